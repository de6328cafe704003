// The metrics of a healthy cluster over three hours, a sample each 30 seconds. There are two replicas, of which `a`
// leads, and guardians on three control-plane nodes. What a test changes replaces a series or adds one.

/** Values by series, in promtool's notation: `1x9` is ten times 1, `0+2x9` rises by 2, `_` is no sample. */
export type Series = Record<string, string>

const samples = 360

/** When the evaluation usually ends, in promtool's words: what changes after an hour has fired by then. */
export const until = '100m'

/** The same value all the time. */
export const always = (value: number) => `${value}x${samples}`

/** A counter, or a time, that rises by this much in a sample. */
export const rising = (step: number, from = 0) => `${from}+${step}x${samples}`

/** A value, and another one from this minute on. */
export const from = (minute: number, before: number | '_', after: string) =>
  `${before}x${2 * minute - 1} ${after.replace(`x${samples}`, `x${samples - 2 * minute}`)}`

/** A value until this minute, then none: the process is gone. */
export const end = (minute: number, value: number) => `${value}x${2 * minute - 1} stale`

/** A metric of a replica of the Deployment. */
export const of = (replica: string, metric: string, labels: Record<string, string> = {}) =>
  seriesName(metric, { namespace: 'eip-admission', job: 'eip-admission-metrics', instance: replica, ...labels })

/** A metric of the guardian on a control-plane node. */
export const guardian = (node: string, metric: string, labels: Record<string, string> = {}) =>
  of(`${node}:10268`, `eip_admission_control_plane_${metric}`, { job: 'eip-admission/control-plane', ...labels })

function seriesName(metric: string, labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return `${metric}{${pairs.join(', ')}}`
}

const review = { webhook: 'reserve.eip-admission.dev', verdict: 'patch' }
const buckets = ['0.5', '1', '2.5', '5', '10', '+Inf']

/** Reviews of which this many in a sample take no longer than each bound. */
export function reviews(replica: string, counts: number[]): Series {
  const of1 = (le: string) => of(replica, 'eip_admission_review_duration_seconds_bucket', { ...review, le })
  return Object.fromEntries(buckets.map((le, n) => [of1(le), rising(counts[n] ?? 0)]))
}

function replica(name: string): Series {
  const call = (labels: Record<string, string>) => of(name, 'eip_admission_cloud_call_duration_seconds_count', labels)
  const apiCall = (result: string) =>
    of(name, 'eip_admission_api_server_call_duration_seconds_count', { method: 'PATCH', result })
  return {
    [of(name, 'eip_admission_build_info', { version: '1', node_version: '24', cloud: 'x' })]: always(1),
    [of(name, 'process_start_time_seconds')]: always(0),
    [of(name, 'eip_admission_oldest_pending_seconds')]: always(45),
    [of(name, 'eip_admission_oldest_unannounced_seconds')]: always(0),
    [of(name, 'eip_admission_webhooks_reached')]: always(1),
    [of(name, 'eip_admission_settings_last_reload_successful')]: always(1),
    [of(name, 'eip_admission_services_without_admission_total')]: always(0),
    ...reviews(name, [4, 7, 9, 10, 10, 10]),
    [call({ call: 'reserve', result: '201' })]: rising(2),
    [call({ call: 'reserve', result: 'unavailable' })]: rising(0.2),
    [call({ call: 'reserve', result: 'conflict' })]: rising(1),
    [apiCall('ok')]: rising(50),
    [apiCall('Conflict')]: rising(30),
    [apiCall('NotFound')]: rising(30),
    [apiCall('Unreachable')]: rising(2),
    [of(name, 'eip_admission_addresses_counted', { scope: 'cluster' })]: always(80),
    [of(name, 'eip_admission_addresses_limit', { scope: 'cluster' })]: always(100),
    [of(name, 'eip_admission_addresses_counted', { scope: 'namespace' })]: always(18),
    [of(name, 'eip_admission_addresses_limit', { scope: 'namespace' })]: always(20),
    [of(name, 'eip_admission_watch_silent_seconds', { kind: 'services' })]: always(300),
    [of(name, 'eip_admission_cert_not_after_timestamp_seconds')]: always(7 * 86_400),
    [of(name, 'eip_admission_ca_not_after_timestamp_seconds')]: always(120 * 86_400),
    [of(name, 'eip_admission_announcer_problems_total')]: always(0),
  }
}

/** The series of a replica while it leads. */
function leader(name: string): Series {
  const reconcile = (result: string) =>
    of(name, 'eip_admission_reconcile_duration_seconds_count', { controller: 'service-controller', result })
  return {
    [of(name, 'eip_admission_leader')]: always(1),
    [of(name, 'eip_admission_last_sweep_timestamp_seconds')]: rising(30),
    [of(name, 'eip_admission_cloud_last_success_timestamp_seconds')]: rising(30),
    [of(name, 'eip_admission_unneeded_reservations', { kind: 'orphan' })]: always(0),
    [of(name, 'eip_admission_cluster_id_in_use')]: always(0),
    [of(name, 'eip_admission_other_project')]: always(0),
    [of(name, 'eip_admission_nodes_without_machine')]: always(0),
    [of(name, 'workqueue_depth', { name: 'service-controller' })]: always(0),
    [reconcile('ok')]: rising(20),
    [reconcile('conflict')]: rising(8),
    [reconcile('error')]: rising(1),
  }
}

const nodes = ['n1', 'n2', 'n3']

function guardianSeries(node: string): Series {
  const info = { version: '1', node_version: '24', cloud: 'x' }
  const probes = nodes.map((probed): [string, string] => [
    guardian(node, 'probes_total', { node: probed, result: 'ok' }),
    rising(30),
  ])
  return {
    [of(`${node}:10268`, 'eip_admission_build_info', { job: 'eip-admission/control-plane', ...info })]: always(1),
    [guardian(node, 'leader')]: always(node === 'n1' ? 1 : 0),
    [guardian(node, 'problem')]: always(0),
    ...Object.fromEntries(probes),
    // Only the one that leads reads the cloud again and again.
    [guardian(node, 'cloud_read_age_seconds')]: node === 'n1' ? always(59) : rising(30),
    ...(node === 'n1' && {
      [guardian(node, 'silent_seconds')]: always(1),
      [guardian(node, 'moves_total', { reason: 'probes', result: 'ok' })]: always(2),
    }),
  }
}

/** All of it. Replica `b` led before: it shows what it knew, and keys wait in its queues for ever. */
export const healthy: Series = {
  ...replica('a'),
  ...replica('b'),
  ...leader('a'),
  [of('b', 'eip_admission_leader')]: always(0),
  [of('b', 'workqueue_depth', { name: 'service-controller' })]: always(400),
  [of('b', 'eip_admission_unneeded_reservations', { kind: 'orphan' })]: always(3),
  [of('b', 'eip_admission_last_sweep_timestamp_seconds')]: always(0),
  [of('b', 'eip_admission_cluster_id_in_use')]: always(1),
  [of('b', 'eip_admission_nodes_without_machine')]: always(2),
  ...Object.assign({}, ...nodes.map(guardianSeries)),
}

/** Every series of the Deployment ends after an hour, and those of new pods begin two minutes later. */
export function rollingUpdate(): Series {
  const old = Object.keys(healthy).filter((name) => /instance="[ab]"/.test(name))
  const gone = old.map((name): [string, string] => [name, `${healthy[name]?.replace(`x${samples}`, 'x119')} stale`])
  const fresh = { ...replica('c'), ...replica('d'), ...leader('d'), [of('c', 'eip_admission_leader')]: always(0) }
  const begun = Object.entries(fresh).map(([name, values]): [string, string] => [name, later(name, values)])
  return { ...Object.fromEntries(gone), ...Object.fromEntries(begun) }
}

/** The values of a new pod: its counters begin at 0, its times at its start. */
function later(name: string, values: string): string {
  const isTime = name.startsWith('process_start') || name.includes('_last_')
  const shifted = isTime ? values.replace(/^\d+/, '3720') : values
  return `_x123 ${shifted.replace(`x${samples}`, `x${samples - 124}`)}`
}
