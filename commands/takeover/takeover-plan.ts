import { writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { connect } from '../../kube/connect.ts'
import { credentialsOf } from '../../ledger/cluster.ts'
import { type StoppableDeps, endWhenStopped } from '../command-deps.ts'
import { fileFault } from '../../lib/small-file.ts'
import type { TakeoverPlanSettings } from '../settings/commands.ts'
import { type TakeoverPlan, canApply } from './plan/plan.ts'
import type { Reader } from './plan/read-facts.ts'
import { NoPlan, NothingToPlan } from './plan/no-plan.ts'
import { type PlanSource, readPlan } from './plan/read-plan.ts'
import { formatNoPlan, formatNothing, formatPlan } from './report/report.ts'

/** Prints what a takeover would do, changes nothing, and returns the exit code: 0 if `apply` may begin, else 1. */
export async function takeoverPlan(settings: TakeoverPlanSettings, deps: StoppableDeps): Promise<number> {
  endWhenStopped(deps, 'stopped before the plan was made')
  const { print } = deps
  const { flags, output, writeValues, writeSecret } = settings
  try {
    const { plan, secretFile } = await readPlan(planSource(flags, deps))
    if (writeValues !== undefined) writeFileSync(writeValues, plan.settings.values)
    if (writeSecret !== undefined) writeSecretFile(writeSecret, secretManifest(plan, secretFile))
    print(formatPlan(plan, output, { flags, values: writeValues, secret: writeSecret }))
    return canApply(plan) ? 0 : 1
  } catch (error) {
    if (error instanceof NothingToPlan) {
      print(formatNothing(error.message, output))
      return 0
    }
    if (!(error instanceof NoPlan)) throw error
    print(formatNoPlan(error.message, error.findings, output))
    return 1
  }
}

/** Where a plan is read: the cluster of the flags, or of the kubeconfig that kubectl uses. */
export function planSource(
  flags: Record<string, string>,
  { env, version, signal }: Pick<StoppableDeps, 'env' | 'version' | 'signal'>,
): PlanSource {
  const userAgent = `eip-admission/${version} takeover`
  const kubeconfig = flags['--kubeconfig'] ?? env['KUBECONFIG']
  const credentials = credentialsOf({ kubeconfig, apiServer: flags['--api-server'] }, env)
  const client = connect(credentials, { userAgent, timeoutMs: 30_000 })
  // Only these two of the client's methods: the plan cannot write.
  const reader: Reader = {
    get: (resource, at, options) => client.get(resource, at, options),
    list: (resource, options) => client.list(resource, options),
  }
  return { reader, credentials, userAgent, env, flags, signal }
}

/** The manifest of our Secret. */
function secretManifest({ settings: { secret } }: TakeoverPlan, file: string): object {
  const { namespace, name, key } = secret
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, stringData: { [key]: file } }
}

/** Writes a new file that only its owner can read. An old one might be readable, or a link to another place. */
function writeSecretFile(path: string, manifest: object): void {
  try {
    writeFileSync(path, stringify(manifest), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new Error(`--write-secret=${path}: ${fileFault(error)}; name a file that does not exist yet`, {
      cause: error,
    })
  }
}
