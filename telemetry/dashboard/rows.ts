import { type Panel, type Row, quantile, rateBy, series, seriesOfLeader, seriesOfOurs, target } from './panel.ts'

/** The title of a panel, its unit, and a sentence that says what is normal. */
type Head = [title: string, unit: Panel['unit'], description: string, more?: Partial<Pick<Panel, 'width' | 'bad'>>]

const stat = ([title, unit, description, more]: Head, expr: string, legend = ''): Panel => {
  return { kind: 'stat', width: 4, title, unit, description, ...more, queries: [{ expr, legend }] }
}
const lines = ([title, unit, description, more]: Head, ...queries: [expr: string, legend: string][]): Panel => {
  const named = queries.map(([expr, legend]) => ({ expr, legend }))
  return { kind: 'timeseries', width: 8, title, unit, description, ...more, queries: named }
}
const ago = (metric: string) => `time() - max(${seriesOfLeader(metric)})`

const addresses: Row = {
  title: 'Addresses',
  panels: [
    stat(
      [
        'Oldest pending',
        's',
        'How long the oldest Service has waited for its address. Seconds are normal.',
        { bad: { from: 300 } },
      ],
      `max(${series('eip_admission_oldest_pending_seconds')})`,
    ),
    stat(
      [
        'Oldest not announced',
        's',
        'How long a Service has had an address without showing it. Seconds are normal.',
        { bad: { from: 300 } },
      ],
      `max(${series('eip_admission_oldest_unannounced_seconds')})`,
    ),
    stat(
      ['Addresses', 'short', "What counts towards the cluster's maximum."],
      `max(${series('eip_admission_addresses_counted', 'scope="cluster"')})`,
    ),
    stat(
      ['Last sweep', 's', 'How long ago the last good sweep ended. Five minutes are normal.', { bad: { from: 1800 } }],
      ago('eip_admission_last_sweep_timestamp_seconds'),
    ),
    stat(
      ['Last good cloud call', 's', 'Not longer ago than the last sweep.', { bad: { from: 600 } }],
      ago('eip_admission_cloud_last_success_timestamp_seconds'),
    ),
    stat(
      ['Webhooks reached', 'bool_yes_no', 'Whether the API server calls the webhooks.', { bad: { below: 1 } }],
      `max(${series('eip_admission_webhooks_reached')})`,
    ),
    stat(
      [
        'Predecessors running',
        'short',
        'Workloads with pods of a program that eip-admission replaces.',
        { bad: { from: 1 } },
      ],
      `max(${series('eip_admission_running_predecessors')})`,
    ),
    stat(
      [
        'Cluster id used twice',
        'bool_yes_no',
        'Whether another cluster has the id of this cluster.',
        { bad: { from: 1 } },
      ],
      `max(${seriesOfLeader('eip_admission_cluster_id_in_use')})`,
    ),
    stat(
      [
        'Another project',
        'bool_yes_no',
        'Whether the settings of a replica name another project than the ledger.',
        { bad: { from: 1 } },
      ],
      `max(${series('eip_admission_other_project')})`,
    ),
    lines(
      ['By phase', 'short', 'ElasticIPs. Bound ones are in use; Released ones are retained.'],
      [`sum by (phase) (max by (phase, location) (${series('eip_admission_addresses')}))`, '{{phase}}'],
    ),
    lines(
      ['By location', 'short', 'ElasticIPs.'],
      [`sum by (location) (max by (phase, location) (${series('eip_admission_addresses')}))`, '{{location}}'],
    ),
    lines(
      [
        'Share of each maximum',
        'percentunit',
        'At 100 % Services are refused or wait. namespace is the one with the most.',
      ],
      [
        `max by (scope) (${series('eip_admission_addresses_counted')})` +
          ` / max by (scope) (${series('eip_admission_addresses_limit')})`,
        '{{scope}}',
      ],
    ),
    lines(
      ['Reservations not needed', 'short', 'As the last sweep saw them. 0 is normal.'],
      [`max by (kind) (${seriesOfLeader('eip_admission_unneeded_reservations')})`, '{{kind}}'],
    ),
  ],
}

const reviews = 'eip_admission_review_duration_seconds'

const admission: Row = {
  title: 'Admission',
  panels: [
    lines(
      ['Reviews', 'ops', 'By webhook and verdict.'],
      [rateBy('webhook, verdict', `${reviews}_count`), '{{webhook}} {{verdict}}'],
    ),
    lines(
      ['Duration', 's', 'One reserve call is part of it. The API server waits 10 s.'],
      [quantile(0.5, 'webhook', reviews), 'p50 {{webhook}}'],
      [quantile(0.95, 'webhook', reviews), 'p95 {{webhook}}'],
      [quantile(0.99, 'webhook', reviews), 'p99 {{webhook}}'],
    ),
    lines(
      ['Denials and errors', 'ops', 'Denials are answers to users; errors are defects.'],
      [rateBy('webhook, verdict', `${reviews}_count`, 'verdict=~"deny|error"'), '{{webhook}} {{verdict}}'],
    ),
    lines(
      ['Services without a review', 'short', 'Completed by the controllers. 0 is normal.'],
      [`sum(increase(${series('eip_admission_services_without_admission_total')}[$__rate_interval]))`, 'missed'],
    ),
  ],
}

const calls = 'eip_admission_cloud_call_duration_seconds'

const cloud: Row = {
  title: 'The provider',
  panels: [
    lines(['Calls', 'ops', 'By name.'], [rateBy('call', `${calls}_count`), '{{call}}']),
    lines(
      ['Errors', 'ops', 'By fault. quota and auth need an operator; rate-limit only needs time.'],
      [rateBy('call, result', `${calls}_count`, 'result!~"[0-9]+"'), '{{call}} {{result}}'],
    ),
    lines(
      ['Duration', 's', 'Users wait for the reserve call.'],
      [quantile(0.5, 'call', calls), 'p50 {{call}}'],
      [quantile(0.95, 'call', calls), 'p95 {{call}}'],
    ),
  ],
}

const reconciles = 'eip_admission_reconcile_duration_seconds'

const controllers: Row = {
  title: 'Controllers',
  panels: [
    lines(
      ['Keys that wait', 'short', 'At the leader. They empty again after a burst.'],
      [`max by (name) (${seriesOfLeader('workqueue_depth')})`, '{{name}}'],
    ),
    lines(
      ['Wait for a worker', 's', 'The slowest twentieth.'],
      [
        'histogram_quantile(0.95, sum by (name, le) (rate(' +
          `${series('workqueue_queue_duration_seconds_bucket')}[$__rate_interval])` +
          ` and on (${target}) eip_admission_build_info))`,
        '{{name}}',
      ],
    ),
    lines(
      ['Retries', 'ops', 'Keys that are retried after a failure.'],
      [
        `sum by (name) (rate(${series('workqueue_retries_total')}[$__rate_interval])` +
          ` and on (${target}) eip_admission_build_info)`,
        '{{name}}',
      ],
    ),
    lines(
      ['Reconciles', 'ops', 'By controller and result. conflict is usual, unsettled is not.'],
      [rateBy('controller, result', `${reconciles}_count`), '{{controller}} {{result}}'],
    ),
    lines(['Duration', 's', 'The slowest twentieth.'], [quantile(0.95, 'controller', reconciles), '{{controller}}']),
    lines(['Leader', 'short', 'One replica is at 1.'], [series('eip_admission_leader'), '{{instance}}']),
  ],
}

const announcing: Row = {
  title: 'Announcing and nodes',
  panels: [
    lines(
      ['Problems of the announcing software', 'short', 'Configurations that it refuses.'],
      [`sum(increase(${series('eip_admission_announcer_problems_total')}[$__rate_interval]))`, 'problems'],
    ),
    lines(
      ['Nodes with peers', 'short', 'Nodes whose BGP peers are known.'],
      [`max(${seriesOfLeader('eip_admission_nodes_with_peers')})`, 'nodes'],
    ),
    lines(
      ['Nodes without a machine', 'short', 'Kept for now; the Event NodeNotDeleted says why.'],
      [`max(${seriesOfLeader('eip_admission_nodes_without_machine')})`, 'nodes'],
    ),
  ],
}

const guard = (name: string) => series(`eip_admission_control_plane_${name}`)

const controlPlane: Row = {
  title: 'The control-plane address',
  panels: [
    stat(
      ['Holder', 'short', 'The node that has the address.', { width: 6 }],
      `max by (node) (${guard('holder')})`,
      '{{node}}',
    ),
    stat(
      ['Needs a person', 'bool_yes_no', '/readyz of the leading guardian says why.', { width: 6, bad: { from: 1 } }],
      `max(${guard('problem')})`,
    ),
    stat(
      ['Guardians that lead', 'short', 'One, if there is an address.', { width: 6, bad: { below: 1 } }],
      `sum(${guard('leader')})`,
    ),
    stat(
      ['Outage around moves', 's', 'In the chosen time.', { width: 6 }],
      `sum(increase(${guard('outage_seconds_total')}[$__range]))`,
    ),
    lines(
      ['Probes', 'ops', 'By node and result.'],
      [rateBy('node, result', 'eip_admission_control_plane_probes_total'), '{{node}} {{result}}'],
    ),
    lines(
      ['Moves', 'short', 'By reason and result.'],
      [`sum by (reason, result) (increase(${guard('moves_total')}[$__rate_interval]))`, '{{reason}} {{result}}'],
    ),
    lines(
      ['Ages', 's', 'Since the holder answered, and since the provider was read (a minute is normal).'],
      [`max(${guard('silent_seconds')})`, 'holder silent'],
      [`min(${guard('cloud_read_age_seconds')})`, 'cloud read'],
    ),
  ],
}

const processes: Row = {
  title: 'Processes',
  panels: [
    lines(
      ['Memory', 'bytes', 'Resident, and the JavaScript heap in it.'],
      [seriesOfOurs('process_resident_memory_bytes'), 'resident {{instance}}'],
      [seriesOfOurs('nodejs_heap_size_used_bytes'), 'heap {{instance}}'],
    ),
    lines(
      ['Event loop lag', 's', 'Milliseconds are normal.'],
      [seriesOfOurs('nodejs_eventloop_lag_seconds'), '{{instance}}'],
    ),
    lines(
      ['Event loop busy', 'percentunit', 'At 100 % reviews wait.'],
      [seriesOfOurs('nodejs_eventloop_utilization_ratio'), '{{instance}}'],
    ),
    lines(
      ['CPU', 'percentunit', 'Of one CPU.'],
      [
        `rate(${series('process_cpu_seconds_total')}[$__rate_interval]) and on (${target}) eip_admission_build_info`,
        '{{instance}}',
      ],
    ),
    lines(
      ['Starts', 'short', 'Within an hour.'],
      [
        `changes(${series('process_start_time_seconds')}[1h]) and on (${target}) eip_admission_build_info`,
        '{{instance}}',
      ],
    ),
    lines(
      ['Versions', 'short', 'Two versions are normal only during a rolling update.'],
      [`count by (version, node_version, cloud) (${series('eip_admission_build_info')})`, '{{version}} {{cloud}}'],
    ),
    lines(
      ['Settings', 'short', 'Of the configuration file. 0 is normal; the log says what to do.'],
      [`sum(1 - ${series('eip_admission_settings_last_reload_successful')})`, 'processes that refused the file'],
      [`max(${series('eip_admission_settings_need_restart')})`, 'settings that need a restart'],
    ),
    lines(
      ['Calls to the API server', 'ops', 'By method and result.', { width: 12 }],
      [rateBy('method, result', 'eip_admission_api_server_call_duration_seconds_count'), '{{method}} {{result}}'],
    ),
    lines(
      ['Missing rights', 'short', '/readyz names one.'],
      [`max(${series('eip_admission_missing_rights')})`, 'rights that the API server denied'],
    ),
    lines(
      ['Silence of watches', 's', 'More than six minutes mean a lost connection.', { width: 12 }],
      [`max by (kind) (${series('eip_admission_watch_silent_seconds')})`, '{{kind}}'],
    ),
  ],
}

const certificates: Row = {
  title: 'Certificates',
  panels: [
    lines(
      ['Serving certificate ends in', 's', 'Renewed when a third is left.', { width: 12 }],
      [`min by (instance) (${series('eip_admission_cert_not_after_timestamp_seconds')}) - time()`, '{{instance}}'],
    ),
    lines(
      ['Authority ends in', 's', 'The first of those that the API server trusts.', { width: 12 }],
      [`min(${series('eip_admission_ca_not_after_timestamp_seconds')}) - time()`, 'authority'],
    ),
  ],
}

/** The rows of the dashboard, what users feel first. */
export const rows: Row[] = [addresses, admission, cloud, controllers, announcing, controlPlane, processes, certificates]
