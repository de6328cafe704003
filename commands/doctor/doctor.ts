import { proxyOf } from '../../clouds/http/proxy.ts'
import { credentialsOf } from '../../ledger/cluster.ts'
import { type StoppableDeps, endWhenStopped } from '../command-deps.ts'
import type { ServeSettings } from '../settings/serve.ts'
import { catalogue } from './catalogue.ts'
import type { Result } from './check.ts'
import type { Context, Facts } from '../../inspect/facts.ts'
import { cloudFacts } from '../../inspect/cloud.ts'
import { clusterFacts } from '../../inspect/cluster.ts'
import { countedProvider } from '../../inspect/provider.ts'
import { clusterReader } from '../../inspect/reader.ts'
import { type Format, exitCodeOf, formatReport } from './report.ts'
import { kubeconfigFlags, remedyText } from '../../lib/remedy.ts'

export type DoctorSettings = ServeSettings & { output: Format }

/** Checks a live cluster and its cloud without changing anything, prints the report, and returns the exit code. */
export async function doctor(settings: DoctorSettings, deps: StoppableDeps): Promise<number> {
  endWhenStopped(deps, 'stopped before everything was checked')
  const { env, version, print } = deps
  const userAgent = `eip-admission/${version} doctor`
  const { vendor, pace } = await countedProvider(settings.cloud, {
    userAgent,
    proxy: proxyOf(env),
    signal: deps.signal,
  })
  const context: Context = { now: new Date(), env: Object.keys(env), settings, vendor }
  const credentials = credentialsOf(settings.process, env)
  const reader = clusterReader(credentials, userAgent)
  const [ofCluster, ofCloud] = await Promise.all([
    clusterFacts({ reader, credentials, userAgent, context }),
    cloudFacts(vendor, { context, pace }),
  ])
  const flags = kubeconfigFlags(settings.process.kubeconfig, env)
  const results = checkAll({ ...ofCluster, ...ofCloud }, context).map((result) =>
    result.fix === undefined ? result : { ...result, fix: remedyText(result.fix, flags) },
  )
  print(formatReport(results, settings.output))
  return exitCodeOf(results)
}

/** The results of all checks, in the order of the report. */
export function checkAll(facts: Facts, context: Context): Result[] {
  return catalogue.flatMap((check) => check.run(facts, context))
}
