import { withoutClass } from '../../settings/service-policy.ts'
import { connect } from '../../kube/connect.ts'
import type { Credentials } from '../../kube/credentials.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import type { CommandDeps, ServeDeps } from '../command-deps.ts'
import { applyInstallation } from '../install.ts'
import type { InstallSettings } from '../settings/commands.ts'
import type { TakeoverApplySettings, TakeoverUndoSettings } from '../settings/takeover-apply.ts'
import { applyReport, undoReport } from './report/apply-report.ts'
import { clean } from './report/text.ts'
import { Blocked, applyTakeover } from './apply/apply.ts'
import { Locked } from './lock.ts'
import type { TakeoverPlan } from './plan/plan.ts'
import { NoPlan, NothingToPlan } from './plan/no-plan.ts'
import { type ReadPlan, readPlan } from './plan/read-plan.ts'
import { formatNoPlan } from './report/report.ts'
import { Interrupted } from './steps.ts'
import { planSource } from './takeover-plan.ts'
import { NothingToUndo, undoTakeover } from './undo/undo.ts'

export type TakeoverDeps = CommandDeps &
  Pick<ServeDeps, 'signal'> & { printError: (text: string) => void; lockMs?: number }

/** Takes over, or continues an earlier run, and returns the exit code. */
export function takeoverApply(settings: TakeoverApplySettings, deps: TakeoverDeps): Promise<number> {
  const { flags, webhookUrl } = settings
  let read: ReadPlan | undefined
  const source = planSource(flags, deps)
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
  return applyWith(plans, { ...settings, credentials: source.credentials }, deps)
}

type Plans = { makePlan(): Promise<TakeoverPlan>; install(plan: TakeoverPlan): Promise<void> }
type Work = Pick<TakeoverApplySettings, 'output' | 'patienceMs'> & { credentials: Credentials }

/** Takes over by plans that somebody makes, and returns the exit code. */
export function applyWith(plans: Plans, settings: Work, deps: TakeoverDeps): Promise<number> {
  const run = async () => {
    const result = await applyTakeover({ ...common(settings, deps), ...plans })
    deps.print(applyReport(result, settings.output))
    return result.services.some(({ problems }) => problems.length > 0) ? 1 : 0
  }
  return ended(run, 'apply', deps)
}

type Installing = Pick<InstallSettings, 'kubeconfig' | 'webhookUrl' | 'loadBalancer' | 'loadBalancerManifest'>

/** What `install` needs to know, for the target of a plan. */
export function installSettingsOf({ target }: Pick<TakeoverPlan, 'target'>, given: Installing): InstallSettings {
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
export async function takeoverUndo(settings: TakeoverUndoSettings, deps: TakeoverDeps): Promise<number> {
  const run = async () => {
    const credentials = kubeconfig({ file: settings.kubeconfig })
    const result = await undoTakeover({ ...common({ ...settings, credentials }, deps), namespace: settings.namespace })
    deps.print(undoReport(result, settings.output))
    return 0
  }
  return ended(run, 'undo', deps)
}

function common({ credentials, output, patienceMs }: Work, { version, print, signal, lockMs }: TakeoverDeps) {
  const client = connect(credentials, { userAgent: `eip-admission/${version} takeover`, timeoutMs: 30_000 })
  const isText = output === 'text'
  // For programs the output is one document.
  const tell = (line: string) => (isText ? print(`${indentOf(line)}${clean(line)}\n`) : undefined)
  return { client, tell, signal, patienceMs, lockMs }
}

function indentOf(line: string): string {
  return /^ */.exec(line)?.[0] ?? ''
}

/** The exit code of a run. An end by a signal, and a refusal, are printed in a sentence. */
async function ended(
  run: () => Promise<number>,
  command: string,
  { print, printError }: TakeoverDeps,
): Promise<number> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof NothingToPlan) {
      print(`${error.message}\n`)
      return 0
    }
    if (error instanceof NoPlan) {
      print(formatNoPlan(error.message, error.findings, 'text'))
      return 1
    }
    if (error instanceof Blocked || error instanceof NothingToUndo || error instanceof Locked) {
      printError(`eip-admission: ${error.message}\n`)
      return 1
    }
    const after = `Run \`eip-admission takeover ${command}\` again to continue${command === 'apply' ? ', or `eip-admission takeover undo` to go back' : ''}.`
    if (error instanceof Interrupted) {
      printError(`Stopped. What is done stays done. ${after}\n`)
      return 1
    }
    const message = error instanceof Error ? error.message : String(error)
    printError(`eip-admission: ${message}\n${after}\n`)
    return 1
  }
}
