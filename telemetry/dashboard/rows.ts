import { atLeader, ofOurs } from '../alerts/alert.ts'
import { type Panel, type Row, quantile, rateBy, series } from './panel.ts'

/** The title of a panel, its unit, and a sentence that says what is normal. */
type Head = [title: string, unit: Panel['unit'], description: string]

type Stat = Pick<Panel, 'bad'> & { expr: string; legend?: string; width?: Panel['width'] }

const stat = (...[title, unit, description, { expr, legend = '', ...more }]: [...Head, Stat]): Panel => {
  return { kind: 'stat', width: 4, title, unit, description, ...more, queries: [{ expr, legend }] }
}

/** Lines over time: the expression of each legend. */
const lines = (...[title, unit, description, exprs]: [...Head, Record<string, string>]): Panel => {
  const queries = Object.entries(exprs).map(([legend, expr]) => ({ expr, legend }))
  return { kind: 'timeseries', width: 8, title, unit, description, queries }
}
const wideLines = (...of: Parameters<typeof lines>): Panel => ({ ...lines(...of), width: 12 })

const largest = (metric: string) => `max(${series(metric)})`
const ofLeader = (metric: string) => atLeader(series(metric))
const ago = (metric: string) => `time() - max(${ofLeader(metric)})`
const rise = (metric: string) => `increase(${series(metric)}[$__rate_interval])`

const addresses: Row = {
  title: 'Addresses',
  panels: [
    stat('Oldest pending', 's', 'How long the oldest Service has waited for its address. Seconds are normal.', {
      expr: largest('eip_admission_oldest_pending_seconds'),
      bad: { from: 300 },
    }),
    stat('Oldest not announced', 's', 'How long a Service has had an address without showing it. Seconds are normal.', {
      expr: largest('eip_admission_oldest_unannounced_seconds'),
      bad: { from: 300 },
    }),
    stat('Addresses', 'short', "What counts towards the cluster's maximum.", {
      expr: `max(${series('eip_admission_addresses_counted', 'scope="cluster"')})`,
    }),
    stat('Last sweep', 's', 'How long ago the last good sweep ended. Five minutes are normal.', {
      expr: ago('eip_admission_last_sweep_timestamp_seconds'),
      bad: { from: 1800 },
    }),
    stat('Last good cloud call', 's', 'Not longer ago than the last sweep.', {
      expr: ago('eip_admission_cloud_last_success_timestamp_seconds'),
      bad: { from: 600 },
    }),
    stat('Webhooks reached', 'bool_yes_no', 'Whether the API server calls the webhooks.', {
      expr: largest('eip_admission_webhooks_reached'),
      bad: { below: 1 },
    }),
    stat('Predecessors running', 'short', 'Workloads with pods of a program that eip-admission replaces.', {
      expr: largest('eip_admission_running_predecessors'),
      bad: { from: 1 },
    }),
    stat('Cluster id used twice', 'bool_yes_no', 'Whether another cluster has the id of this cluster.', {
      expr: `max(${ofLeader('eip_admission_cluster_id_in_use')})`,
      bad: { from: 1 },
    }),
    stat('Another project', 'bool_yes_no', 'Whether the settings of a replica name another project than the ledger.', {
      expr: largest('eip_admission_other_project'),
      bad: { from: 1 },
    }),
    lines('By phase', 'short', 'ElasticIPs. Bound ones are in use; Released ones are retained.', {
      '{{phase}}': `sum by (phase) (max by (phase, location) (${series('eip_admission_addresses')}))`,
    }),
    lines('By location', 'short', 'ElasticIPs.', {
      '{{location}}': `sum by (location) (max by (phase, location) (${series('eip_admission_addresses')}))`,
    }),
    lines(
      'Share of each maximum',
      'percentunit',
      'At 100 % Services are refused or wait. namespace is the one with the most.',
      {
        '{{scope}}':
          `max by (scope) (${series('eip_admission_addresses_counted')})` +
          ` / max by (scope) (${series('eip_admission_addresses_limit')})`,
      },
    ),
    lines('Reservations not needed', 'short', 'As the last sweep saw them. 0 is normal.', {
      '{{kind}}': `max by (kind) (${ofLeader('eip_admission_unneeded_reservations')})`,
    }),
  ],
}

const reviews = 'eip_admission_review_duration_seconds'

const admission: Row = {
  title: 'Admission',
  panels: [
    lines('Reviews', 'ops', 'By webhook and verdict.', {
      '{{webhook}} {{verdict}}': rateBy('webhook, verdict', `${reviews}_count`),
    }),
    lines('Duration', 's', 'One reserve call is part of it. The API server waits 10 s.', {
      'p50 {{webhook}}': quantile(0.5, 'webhook', reviews),
      'p95 {{webhook}}': quantile(0.95, 'webhook', reviews),
      'p99 {{webhook}}': quantile(0.99, 'webhook', reviews),
    }),
    lines('Denials and errors', 'ops', 'Denials are answers to users; errors are defects.', {
      '{{webhook}} {{verdict}}': rateBy('webhook, verdict', `${reviews}_count`, 'verdict=~"deny|error"'),
    }),
    lines('Services without a review', 'short', 'Completed by the controllers. 0 is normal.', {
      missed: `sum(${rise('eip_admission_services_without_admission_total')})`,
    }),
  ],
}

const calls = 'eip_admission_cloud_call_duration_seconds'

const cloud: Row = {
  title: 'The provider',
  panels: [
    lines('Calls', 'ops', 'By name.', { '{{call}}': rateBy('call', `${calls}_count`) }),
    lines('Errors', 'ops', 'By fault. quota and auth need an operator; rate-limit only needs time.', {
      '{{call}} {{result}}': rateBy('call, result', `${calls}_count`, 'result!~"[0-9]+"'),
    }),
    lines('Duration', 's', 'Users wait for the reserve call.', {
      'p50 {{call}}': quantile(0.5, 'call', calls),
      'p95 {{call}}': quantile(0.95, 'call', calls),
    }),
  ],
}

const reconciles = 'eip_admission_reconcile_duration_seconds'
const rateOfOurs = (metric: string) => ofOurs(`rate(${series(metric)}[$__rate_interval])`)

const controllers: Row = {
  title: 'Controllers',
  panels: [
    lines('Keys that wait', 'short', 'At the leader. They empty again after a burst.', {
      '{{name}}': `max by (name) (${ofLeader('workqueue_depth')})`,
    }),
    lines('Wait for a worker', 's', 'The slowest twentieth.', {
      '{{name}}': `histogram_quantile(0.95, sum by (name, le) (${rateOfOurs('workqueue_queue_duration_seconds_bucket')}))`,
    }),
    lines('Retries', 'ops', 'Keys that are retried after a failure.', {
      '{{name}}': `sum by (name) (${rateOfOurs('workqueue_retries_total')})`,
    }),
    lines('Reconciles', 'ops', 'By controller and result. conflict is usual, unsettled is not.', {
      '{{controller}} {{result}}': rateBy('controller, result', `${reconciles}_count`),
    }),
    lines('Duration', 's', 'The slowest twentieth.', { '{{controller}}': quantile(0.95, 'controller', reconciles) }),
    lines('Leader', 'short', 'One replica is at 1.', { '{{instance}}': series('eip_admission_leader') }),
  ],
}

const announcing: Row = {
  title: 'Announcing and nodes',
  panels: [
    lines('Problems of the announcing software', 'short', 'Configurations that it refuses.', {
      problems: `sum(${rise('eip_admission_announcer_problems_total')})`,
    }),
    lines('Nodes with peers', 'short', 'Nodes whose BGP peers are known.', {
      nodes: `max(${ofLeader('eip_admission_nodes_with_peers')})`,
    }),
    lines('Nodes without a machine', 'short', 'Kept for now; the Event NodeNotDeleted says why.', {
      nodes: `max(${ofLeader('eip_admission_nodes_without_machine')})`,
    }),
  ],
}

const guard = (name: string) => series(`eip_admission_control_plane_${name}`)

const controlPlane: Row = {
  title: 'The control-plane address',
  panels: [
    stat('Holder', 'short', 'The node that has the address.', {
      expr: `max by (node) (${guard('holder')})`,
      legend: '{{node}}',
      width: 6,
    }),
    stat('Needs a person', 'bool_yes_no', '/readyz of the leading guardian says why.', {
      expr: `max(${guard('problem')})`,
      bad: { from: 1 },
      width: 6,
    }),
    stat('Guardians that lead', 'short', 'One, if there is an address.', {
      expr: `sum(${guard('leader')})`,
      bad: { below: 1 },
      width: 6,
    }),
    stat('Outage around moves', 's', 'In the chosen time.', {
      expr: `sum(increase(${guard('outage_seconds_total')}[$__range]))`,
      width: 6,
    }),
    lines('Probes', 'ops', 'By node and result.', {
      '{{node}} {{result}}': rateBy('node, result', 'eip_admission_control_plane_probes_total'),
    }),
    lines('Moves', 'short', 'By reason and result.', {
      '{{reason}} {{result}}': `sum by (reason, result) (${rise('eip_admission_control_plane_moves_total')})`,
    }),
    lines('Ages', 's', 'Since the holder answered, and since the provider was read (a minute is normal).', {
      'holder silent': `max(${guard('silent_seconds')})`,
      'cloud read': `min(${guard('cloud_read_age_seconds')})`,
    }),
  ],
}

const ours = (metric: string) => ofOurs(series(metric))

const processes: Row = {
  title: 'Processes',
  panels: [
    lines('Memory', 'bytes', 'Resident, and the JavaScript heap in it.', {
      'resident {{instance}}': ours('process_resident_memory_bytes'),
      'heap {{instance}}': ours('nodejs_heap_size_used_bytes'),
    }),
    lines('Event loop lag', 's', 'Milliseconds are normal.', { '{{instance}}': ours('nodejs_eventloop_lag_seconds') }),
    lines('Event loop busy', 'percentunit', 'At 100 % reviews wait.', {
      '{{instance}}': ours('nodejs_eventloop_utilization_ratio'),
    }),
    lines('CPU', 'percentunit', 'Of one CPU.', { '{{instance}}': rateOfOurs('process_cpu_seconds_total') }),
    lines('Starts', 'short', 'Within an hour.', {
      '{{instance}}': ofOurs(`changes(${series('process_start_time_seconds')}[1h])`),
    }),
    lines('Versions', 'short', 'Two versions are normal only during a rolling update.', {
      '{{version}} {{cloud}}': `count by (version, node_version, cloud) (${series('eip_admission_build_info')})`,
    }),
    lines('Settings', 'short', 'Of the configuration file. 0 is normal; the log says what to do.', {
      'processes that refused the file': `sum(1 - ${series('eip_admission_settings_last_reload_successful')})`,
      'settings that need a restart': largest('eip_admission_settings_need_restart'),
    }),
    wideLines('Calls to the API server', 'ops', 'By method and result.', {
      '{{method}} {{result}}': rateBy('method, result', 'eip_admission_api_server_call_duration_seconds_count'),
    }),
    lines('Missing rights', 'short', '/readyz names one.', {
      'rights that the API server denied': largest('eip_admission_missing_rights'),
    }),
    wideLines('Silence of watches', 's', 'More than six minutes mean a lost connection.', {
      '{{kind}}': `max by (kind) (${series('eip_admission_watch_silent_seconds')})`,
    }),
  ],
}

const certificates: Row = {
  title: 'Certificates',
  panels: [
    wideLines('Serving certificate ends in', 's', 'Renewed when a third is left.', {
      '{{instance}}': `min by (instance) (${series('eip_admission_cert_not_after_timestamp_seconds')}) - time()`,
    }),
    wideLines('Authority ends in', 's', 'The first of those that the API server trusts.', {
      authority: `min(${series('eip_admission_ca_not_after_timestamp_seconds')}) - time()`,
    }),
  ],
}

/** The rows of the dashboard, what users feel first. */
export const rows: Row[] = [addresses, admission, cloud, controllers, announcing, controlPlane, processes, certificates]
