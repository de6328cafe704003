import { stringify } from 'yaml'
import { ownNamespace } from '../../settings/process.ts'
import { withoutClass } from '../../settings/service-policy.ts'
import { readerOf } from '../../inspect/reader.ts'
import { systemClock } from '../../kube/clock.ts'
import { connect } from '../../kube/connect.ts'
import type { Credentials } from '../../kube/credentials.ts'
import { credentialsOf, kubeconfig } from '../../kube/kubeconfig.ts'
import { kubeconfigFlags, withFlags } from '../../lib/remedy.ts'
import { type CommandDeps, type ServeDeps, type StoppableDeps, endWhenStopped } from '../command-deps.ts'
import { type Installation, applyInstallation } from '../install.ts'
import type { Format } from '../doctor/report.ts'
import type { TakeoverPlanSettings } from '../settings/commands.ts'
import type { TakeoverApplySettings, TakeoverUndoSettings } from '../settings/takeover-apply.ts'
import { applyTakeover } from './apply/apply.ts'
import { type TakeoverPlan, canApply } from './plan/plan.ts'
import { type PlanSource, type ReadPlan, readPlan } from './plan/read-plan.ts'
import { type Printers, applyReport, reported, undoReport } from './report/result-report.ts'
import { formatPlan } from './report/plan-report.ts'
import { plainLine } from './report/text.ts'
import { isAdministrator } from './rights.ts'
import type { RunDeps } from './steps.ts'
import { undoTakeover } from './undo/undo.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type TakeoverDeps = CommandDeps & Printers & Pick<ServeDeps, 'signal'> & { lockMs?: number }

/**
 * Prints what a takeover would do without changing anything, and returns the exit code: 0 if `apply` may begin, else 1.
 */
export async function takeoverPlan(settings: TakeoverPlanSettings, deps: StoppableDeps & Printers): Promise<number> {
  endWhenStopped(deps, 'stopped before the plan was made')
  const { output, write: folder } = settings
  const flags = withNamespace(settings.flags, deps)
  const printers = printersFor(deps, { flags, output })
  return reported({ command: 'plan', output }, printers, async () => {
    const { plan, secretFile } = await readPlan(planSource(flags, deps))
    const secret = stringify(secretManifest(plan, secretFile))
    if (folder !== undefined) writeFolder(folder, { 'values.yaml': plan.settings.values, 'secret.yaml': secret })
    printers.print(formatPlan(plan, output, folder))
    return canApply(plan) ? 0 : 1
  })
}

/** The flags that a person gave, of `serve` and of the takeover commands. */
type Given = { flags: Record<string, string>; output: Format; webhookUrl?: string | undefined }
type Env = Pick<CommandDeps, 'env'>

/**
 * Prints texts, and adds flags to their commands so that they mean the same cluster and takeover. JSON stays unchanged.
 */
function printersFor({ print, printError, env }: Printers & Env, { flags, output, webhookUrl }: Given): Printers {
  const { '--kubeconfig': kubeconfig, ...plan } = flags
  const apply = { ...plan, ...(webhookUrl !== undefined && { '--webhook-url': webhookUrl }) }
  // `undo` takes no other flag of `serve`.
  const undo = Object.fromEntries(Object.entries(plan).filter(([flag]) => flag === '--namespace'))
  const carried = { ...kubeconfigFlags(kubeconfig, env), takeover: { plan, apply, undo } }
  return {
    print: output === 'json' ? print : (text) => print(withFlags(text, carried)),
    // Errors are for people in either format.
    printError: (text) => printError(withFlags(text, carried)),
  }
}

/** The flags with the namespace, which the environment may name: plan, apply and undo must mean the same takeover. */
function withNamespace(flags: Record<string, string>, { env }: Env): Record<string, string> {
  const { '--namespace': flag, ...others } = flags
  const ofEnv = env[ownNamespace.env] || ownNamespace.default
  const namespace = flag || ofEnv
  const isUsual = [namespace, ofEnv].every((one) => one === ownNamespace.default)
  return isUsual ? others : { ...others, '--namespace': namespace }
}

/** The source of a plan: the cluster of the flags, or of the kubeconfig that kubectl uses. */
function planSource(flags: PlanSource['flags'], { env, version, signal }: Omit<TakeoverDeps, 'lockMs'>): PlanSource {
  const userAgent = `eip-admission/${version} takeover`
  const kubeconfig = flags['--kubeconfig'] ?? env['KUBECONFIG']
  const credentials = credentialsOf({ kubeconfig, apiServer: flags['--api-server'] }, env)
  // The plan gets a reader, which cannot write.
  const client = connect(credentials, { userAgent })
  const asked = () => isAdministrator(client)
  return { reader: readerOf(client), isAdministrator: asked, credentials, userAgent, env, flags, signal }
}

/** The manifest of our Secret. */
function secretManifest({ settings: { secret } }: TakeoverPlan, file: string): object {
  const { namespace, name, key } = secret
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, stringData: { [key]: file } }
}

/** Takes over, or continues an earlier run, and returns the exit code. */
export function takeoverApply(settings: TakeoverApplySettings, deps: TakeoverDeps): Promise<number> {
  const { webhookUrl } = settings
  const flags = withNamespace(settings.flags, deps)
  const source = planSource(flags, deps)
  let read: ReadPlan | undefined
  const plans = {
    async makePlan() {
      read = await readPlan(source)
      return read.plan
    },
    install: (plan: TakeoverPlan) =>
      applyInstallation(
        installSettingsOf(plan, {
          kubeconfig: flags['--kubeconfig'] ?? deps.env['KUBECONFIG'],
          webhookUrl,
          loadBalancer: read?.vendor.loadBalancer,
          loadBalancerManifest: read?.settings.cluster.loadBalancerManifest,
        }),
        { ...deps, print: () => {} },
      ),
  }
  const printers = printersFor(deps, { ...settings, flags })
  return applyWith(plans, { ...settings, credentials: source.credentials }, { ...deps, ...printers })
}

type Plans = { makePlan(): Promise<TakeoverPlan>; install(plan: TakeoverPlan): Promise<void> }
type Work = Pick<TakeoverApplySettings, 'output' | 'patienceMs'> & { credentials: Credentials }

/** Takes over with the given source of plans, and returns the exit code. */
export function applyWith(plans: Plans, settings: Work, deps: TakeoverDeps): Promise<number> {
  const { output } = settings
  return reported({ command: 'apply', output }, deps, async () => {
    deps.print(applyReport(await applyTakeover({ ...runDeps(settings, deps), ...plans }), output))
    return 0
  })
}

type Installing = Pick<Installation, 'kubeconfig' | 'webhookUrl' | 'loadBalancer' | 'loadBalancerManifest'>

/** The facts that `install` needs, for the target of a plan. */
export function installSettingsOf({ target }: Pick<TakeoverPlan, 'target'>, given: Installing): Installation {
  // No predecessor serves Services with a class.
  const loadBalancerClasses = [withoutClass]
  return {
    ...target,
    ...given,
    loadBalancerClasses,
    dryRun: false,
    cloudConfig: undefined,
    metallbConfigMap: undefined,
  }
}

/** Brings the predecessor back, and returns the exit code. */
export async function takeoverUndo(settings: TakeoverUndoSettings, given: TakeoverDeps): Promise<number> {
  const { kubeconfig: file, namespace, output } = settings
  const cluster: Record<string, string> = file === undefined ? {} : { '--kubeconfig': file }
  const flags = { ...cluster, ...withNamespace({ '--namespace': namespace }, given) }
  const deps = { ...given, ...printersFor(given, { flags, output }) }
  return reported({ command: 'undo', output }, deps, async () => {
    const work = runDeps({ ...settings, credentials: kubeconfig({ file }) }, deps)
    deps.print(undoReport(await undoTakeover({ ...work, namespace }), output))
    return 0
  })
}

function runDeps({ credentials, output, patienceMs }: Work, { version, print, signal, lockMs }: TakeoverDeps): RunDeps {
  const client = connect(credentials, { userAgent: `eip-admission/${version} takeover` })
  const isText = output === 'text'
  // In JSON the output is a single document.
  const tell = (line: string) => (isText ? print(`${plainLine(line)}\n`) : undefined)
  return { client, tell, signal, clock: systemClock, patienceMs, lockMs }
}

/** Writes files into a new folder that only its owner can read. An existing folder may hold a person's changes. */
export function writeFolder(path: string, files: Readonly<Record<string, string>>): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    const fault = code === 'EEXIST' ? 'exists already, and may hold your changes' : `cannot be made (${code})`
    throw new Error(`--write=${path}: ${fault}; name a folder that does not exist yet`, { cause: error })
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text, { mode: 0o600 })
}
