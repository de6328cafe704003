import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import type { ServeDeps } from '../base.ts'
import type { CommandDeps } from '../commands/command-deps.ts'
import { install } from '../commands/install.ts'
import { readInstallSettings } from '../settings/commands.ts'
import type { ApplySettings, UndoSettings } from '../settings/takeover-apply.ts'
import { applyReport, clean, undoReport } from './apply-report.ts'
import { Blocked, applyTakeover } from './apply.ts'
import { predecessorNamed } from './found.ts'
import type { TakeoverPlan } from './plan.ts'
import { progressStore } from './progress.ts'
import { Interrupted } from './steps.ts'
import { NothingToUndo, undoTakeover } from './undo.ts'

export type TakeoverDeps = CommandDeps & Pick<ServeDeps, 'signal'> & { printError: (text: string) => void }

/** Takes over, or continues an earlier run, and returns the exit code. */
export async function takeoverApply(
  settings: ApplySettings,
  makePlan: () => Promise<TakeoverPlan>,
  deps: TakeoverDeps,
): Promise<number> {
  const run = async () => {
    const result = await applyTakeover({
      ...common(settings, deps),
      makePlan,
      install: (plan) => installFor(plan, settings, deps),
    })
    deps.print(applyReport(result, settings.output))
    return result.services.some(({ problems }) => problems.length > 0) ? 1 : 0
  }
  return ended(run, 'apply', deps)
}

/** Brings the predecessor back, and returns the exit code. */
export async function takeoverUndo(settings: UndoSettings, deps: TakeoverDeps): Promise<number> {
  const { namespace, leaseNamespace, leaseName } = settings
  const run = async () => {
    const { client, ...more } = common(settings, deps)
    const before = await progressStore(client, namespace).read()
    const title = before ? predecessorNamed(before.found.predecessor).title : ''
    const lease = { namespace: leaseNamespace, name: leaseName }
    const result = await undoTakeover({ client, ...more, namespace, lease })
    deps.print(undoReport(result, title, settings.output))
    return 0
  }
  return ended(run, 'undo', deps)
}

function common(settings: UndoSettings, { version, print, signal }: TakeoverDeps) {
  const client = connect(kubeconfig({ file: settings.kubeconfig }), {
    userAgent: `eip-admission/${version} takeover`,
    timeoutMs: 30_000,
  })
  const isText = settings.output === 'text'
  // For programs the output is one document.
  const tell = (line: string) => (isText ? print(`${indentOf(line)}${clean(line)}\n`) : undefined)
  return { client, tell, signal, patienceMs: settings.patienceMs }
}

function indentOf(line: string): string {
  return /^ */.exec(line)?.[0] ?? ''
}

/** Applies what `install` applies, for the load balancer of the plan. */
async function installFor(plan: TakeoverPlan, settings: ApplySettings, deps: TakeoverDeps): Promise<void> {
  const { kubeconfig: file, webhookUrl, namespace, leaseNamespace, leaseName } = settings
  const loadBalancer = plan.settings.flags['--loadbalancer'] ?? plan.settings.flags['loadbalancer']
  const given = {
    '--kubeconfig': file,
    '--webhook-url': webhookUrl,
    '--namespace': namespace,
    '--leader-elect-resource-namespace': leaseNamespace,
    '--leader-elect-resource-name': leaseName,
    '--loadbalancer': loadBalancer,
  }
  const flags = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  await install(readInstallSettings({ flags, env: {} }), { ...deps, print: () => {} })
}

/** The exit code of a run: an end by a signal, and refusals, are told in a sentence. */
async function ended(run: () => Promise<number>, command: string, { printError }: TakeoverDeps): Promise<number> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Blocked || error instanceof NothingToUndo) {
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
