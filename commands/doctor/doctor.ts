import { proxyOf } from '../../clouds/http/proxy.ts'
import { connect } from '../../kube/connect.ts'
import type { Credentials } from '../../kube/credentials.ts'
import { credentialsOf } from '../../kube/kubeconfig.ts'
import { type CommandFlags, kubeconfigFlags, remedyText } from '../../lib/remedy.ts'
import { apiServer, kubeconfig } from '../../settings/process.ts'
import { resolveSettings } from '../../settings/resolve.ts'
import { type StoppableDeps, endWhenStopped } from '../command-deps.ts'
import type { DoctorSettings } from '../settings/commands.ts'
import { serveSettings } from '../settings/serve.ts'
import { catalogue } from './catalogue.ts'
import type { Result } from './check.ts'
import { type FoundSettings, areGiven, findSettings } from './find-settings.ts'
import type { Context, Facts } from '../../inspect/facts.ts'
import { cloudFacts } from '../../inspect/cloud.ts'
import { clusterFacts } from '../../inspect/cluster.ts'
import { countedProvider } from '../../inspect/provider.ts'
import { clusterReader } from '../../inspect/reader.ts'
import { exitCodeOf, formatReport } from './report.ts'

export type DoctorDeps = StoppableDeps & {
  /** Shows the current activity on a terminal; an empty text clears it. */
  progress?: (text: string) => void
  /** The cluster, if the caller has chosen it by other flags than those of `serve`. */
  cluster?: { credentials: Credentials; flags: CommandFlags }
}

/** Checks a live cluster and its provider without changing anything, prints the report, and returns the exit code. */
export async function doctor({ output, allowUnknown, flags }: DoctorSettings, deps: DoctorDeps): Promise<number> {
  endWhenStopped(deps, 'stopped before everything was checked')
  const { env, version, print, progress = () => {} } = deps
  const userAgent = `eip-admission/${version} doctor`
  const place = resolveSettings({ kubeconfig, apiServer }, { flags, env }).values
  const credentials = deps.cluster?.credentials ?? credentialsOf(place, env)
  try {
    progress('reading the settings of serve')
    const found: FoundSettings = areGiven(flags)
      ? { settings: serveSettings({ flags, env }), env, places: [] }
      : await findSettings(connect(credentials, { userAgent }), { flags, env })
    progress('reading the cluster and the provider')
    const results = await check(found, { credentials, userAgent, deps })
    progress('')
    const shown = deps.cluster?.flags ?? kubeconfigFlags(place.kubeconfig, env)
    const withFixes = results.map((one) => (one.fix === undefined ? one : { ...one, fix: remedyText(one.fix, shown) }))
    const exitCode = exitCodeOf(results, allowUnknown)
    print(formatReport(withFixes, { format: output, exitCode, places: found.places }))
    return exitCode
  } finally {
    progress('')
  }
}

async function check(
  { settings, env }: FoundSettings,
  { credentials, userAgent, deps }: { credentials: Credentials; userAgent: string; deps: DoctorDeps },
): Promise<Result[]> {
  const { vendor, pace } = await countedProvider(settings.cloud, {
    userAgent,
    proxy: proxyOf(deps.env),
    signal: deps.signal,
  })
  const context: Context = { now: new Date(), env: Object.keys(env), settings, vendor }
  const reader = clusterReader(credentials, userAgent)
  const [ofCluster, ofCloud] = await Promise.all([
    clusterFacts({ reader, credentials, userAgent, context }),
    cloudFacts(vendor, { context, pace }),
  ])
  return checkAll({ ...ofCluster, ...ofCloud }, context)
}

/** The results of all checks, in the order of the report. */
export function checkAll(facts: Facts, context: Context): Result[] {
  return catalogue.flatMap((check) => check.run(facts, context))
}
