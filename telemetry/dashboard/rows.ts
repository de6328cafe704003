import { type Panel, type Row, quantile, rateBy, series, seriesOfLeader, seriesOfOurs, target } from './panel.ts'

type Short = Omit<Panel, 'kind' | 'width' | 'queries'> & { width?: Panel['width'] }

const stat = (panel: Short, expr: string, legend = ''): Panel => {
  return { kind: 'stat', width: 4, ...panel, queries: [{ expr, legend }] }
}
const lines = (panel: Short, ...queries: [expr: string, legend: string][]): Panel => {
  return { kind: 'timeseries', width: 8, ...panel, queries: queries.map(([expr, legend]) => ({ expr, legend })) }
}
const ago = (metric: string) => `time() - max(${seriesOfLeader(metric)})`

const addresses: Row = {
  title: 'Addresses',
  panels: [
    stat(
      {
        title: 'Oldest pending',
        unit: 's',
        description: 'How long the oldest address is waited for. Seconds are normal.',
        bad: { from: 300 },
      },
      `max(${series('eip_admission_oldest_pending_seconds')})`,
    ),
    stat(
      {
        title: 'Oldest not announced',
        unit: 's',
        description: 'For how long a Service has had an address and not shown it. Seconds are normal.',
        bad: { from: 300 },
      },
      `max(${series('eip_admission_oldest_unannounced_seconds')})`,
    ),
    stat(
      { title: 'Addresses', unit: 'short', description: 'What counts for the maximum of the cluster.' },
      `max(${series('eip_admission_addresses_counted', 'scope="cluster"')})`,
    ),
    stat(
      {
        title: 'Last sweep',
        unit: 's',
        description: 'How long ago the last good sweep ended. Five minutes are normal.',
        bad: { from: 1800 },
      },
      ago('eip_admission_last_sweep_timestamp_seconds'),
    ),
    stat(
      {
        title: 'Last good cloud call',
        unit: 's',
        description: 'Not longer ago than the last sweep.',
        bad: { from: 600 },
      },
      ago('eip_admission_cloud_last_success_timestamp_seconds'),
    ),
    stat(
      {
        title: 'Webhooks reached',
        unit: 'bool_yes_no',
        description: 'Whether the API server calls the webhooks.',
        bad: { below: 1 },
      },
      `max(${series('eip_admission_webhooks_reached')})`,
    ),
    stat(
      {
        title: 'Predecessors running',
        unit: 'short',
        description: 'Workloads with pods of a program that eip-admission replaces.',
        bad: { from: 1 },
      },
      `max(${series('eip_admission_running_predecessors')})`,
    ),
    stat(
      {
        title: 'Cluster id used twice',
        unit: 'bool_yes_no',
        description: 'Whether another cluster has the id of this cluster.',
        bad: { from: 1 },
      },
      `max(${seriesOfLeader('eip_admission_cluster_id_in_use')})`,
    ),
    stat(
      {
        title: 'Another project',
        unit: 'bool_yes_no',
        description: 'Whether the settings of a replica name another project than the ledger.',
        bad: { from: 1 },
      },
      `max(${series('eip_admission_other_project')})`,
    ),
    lines(
      {
        title: 'By phase',
        unit: 'short',
        description: 'ElasticIPs. Bound ones are in use; Released ones are retained.',
      },
      [`sum by (phase) (max by (phase, location) (${series('eip_admission_addresses')}))`, '{{phase}}'],
    ),
    lines({ title: 'By location', unit: 'short', description: 'ElasticIPs.' }, [
      `sum by (location) (max by (phase, location) (${series('eip_admission_addresses')}))`,
      '{{location}}',
    ]),
    lines(
      {
        title: 'Share of each maximum',
        unit: 'percentunit',
        description: 'At 100 % Services are refused or wait. namespace is the one with the most.',
      },
      [
        `max by (scope) (${series('eip_admission_addresses_counted')})` +
          ` / max by (scope) (${series('eip_admission_addresses_limit')})`,
        '{{scope}}',
      ],
    ),
    lines(
      { title: 'Reservations not needed', unit: 'short', description: 'As the last sweep saw them. 0 is normal.' },
      [`max by (kind) (${seriesOfLeader('eip_admission_unneeded_reservations')})`, '{{kind}}'],
    ),
  ],
}

const reviews = 'eip_admission_review_duration_seconds'

const admission: Row = {
  title: 'Admission',
  panels: [
    lines({ title: 'Reviews', unit: 'ops', description: 'By webhook and verdict.' }, [
      rateBy('webhook, verdict', `${reviews}_count`),
      '{{webhook}} {{verdict}}',
    ]),
    lines(
      { title: 'Duration', unit: 's', description: 'One reserve call is part of it. The API server waits 10 s.' },
      [quantile(0.5, 'webhook', reviews), 'p50 {{webhook}}'],
      [quantile(0.95, 'webhook', reviews), 'p95 {{webhook}}'],
      [quantile(0.99, 'webhook', reviews), 'p99 {{webhook}}'],
    ),
    lines(
      { title: 'Denials and errors', unit: 'ops', description: 'Denials are answers to users; errors are defects.' },
      [rateBy('webhook, verdict', `${reviews}_count`, 'verdict=~"deny|error"'), '{{webhook}} {{verdict}}'],
    ),
    lines(
      { title: 'Services without a review', unit: 'short', description: 'Completed by the controllers. 0 is normal.' },
      [`sum(increase(${series('eip_admission_services_without_admission_total')}[$__rate_interval]))`, 'missed'],
    ),
  ],
}

const calls = 'eip_admission_cloud_call_duration_seconds'

const cloud: Row = {
  title: 'The provider',
  panels: [
    lines({ title: 'Calls', unit: 'ops', description: 'By name.' }, [rateBy('call', `${calls}_count`), '{{call}}']),
    lines(
      {
        title: 'Errors',
        unit: 'ops',
        description: 'By fault. quota and auth need a person; rate-limit is waited for.',
      },
      [rateBy('call, result', `${calls}_count`, 'result!~"[0-9]+"'), '{{call}} {{result}}'],
    ),
    lines(
      { title: 'Duration', unit: 's', description: 'What a user waits for is that of reserve.' },
      [quantile(0.5, 'call', calls), 'p50 {{call}}'],
      [quantile(0.95, 'call', calls), 'p95 {{call}}'],
    ),
  ],
}

const reconciles = 'eip_admission_reconcile_duration_seconds'

const controllers: Row = {
  title: 'Controllers',
  panels: [
    lines({ title: 'Keys that wait', unit: 'short', description: 'At the leader. They come to rest after a burst.' }, [
      `max by (name) (${seriesOfLeader('workqueue_depth')})`,
      '{{name}}',
    ]),
    lines({ title: 'Wait for a worker', unit: 's', description: 'The slowest twentieth.' }, [
      'histogram_quantile(0.95, sum by (name, le) (rate(' +
        `${series('workqueue_queue_duration_seconds_bucket')}[$__rate_interval])` +
        ` and on (${target}) eip_admission_build_info))`,
      '{{name}}',
    ]),
    lines({ title: 'Retries', unit: 'ops', description: 'Keys that come again after a failure.' }, [
      `sum by (name) (rate(${series('workqueue_retries_total')}[$__rate_interval])` +
        ` and on (${target}) eip_admission_build_info)`,
      '{{name}}',
    ]),
    lines(
      {
        title: 'Reconciles',
        unit: 'ops',
        description: 'By controller and result. conflict is usual, unsettled is not.',
      },
      [rateBy('controller, result', `${reconciles}_count`), '{{controller}} {{result}}'],
    ),
    lines({ title: 'Duration', unit: 's', description: 'The slowest twentieth.' }, [
      quantile(0.95, 'controller', reconciles),
      '{{controller}}',
    ]),
    lines({ title: 'Leader', unit: 'short', description: 'One replica is at 1.' }, [
      series('eip_admission_leader'),
      '{{instance}}',
    ]),
  ],
}

const announcing: Row = {
  title: 'Announcing and nodes',
  panels: [
    lines(
      { title: 'Problems of the announcing software', unit: 'short', description: 'Configurations that it refuses.' },
      [`sum(increase(${series('eip_admission_announcer_problems_total')}[$__rate_interval]))`, 'problems'],
    ),
    lines({ title: 'Nodes with peers', unit: 'short', description: 'Nodes whose BGP peers are known.' }, [
      `max(${seriesOfLeader('eip_admission_nodes_with_peers')})`,
      'nodes',
    ]),
    lines(
      {
        title: 'Nodes without a machine',
        unit: 'short',
        description: 'Kept for now; the Event NodeNotDeleted says why.',
      },
      [`max(${seriesOfLeader('eip_admission_nodes_without_machine')})`, 'nodes'],
    ),
  ],
}

const guard = (name: string) => series(`eip_admission_control_plane_${name}`)

const controlPlane: Row = {
  title: 'The control-plane address',
  panels: [
    stat(
      { title: 'Holder', unit: 'short', description: 'The node that has the address.', width: 6 },
      `max by (node) (${guard('holder')})`,
      '{{node}}',
    ),
    stat(
      {
        title: 'Needs a person',
        unit: 'bool_yes_no',
        description: '/readyz of the leading guardian says why.',
        bad: { from: 1 },
        width: 6,
      },
      `max(${guard('problem')})`,
    ),
    stat(
      {
        title: 'Guardians that lead',
        unit: 'short',
        description: 'One, where there is an address.',
        width: 6,
        bad: { below: 1 },
      },
      `sum(${guard('leader')})`,
    ),
    stat(
      { title: 'Outage around moves', unit: 's', description: 'In the chosen time.', width: 6 },
      `sum(increase(${guard('outage_seconds_total')}[$__range]))`,
    ),
    lines({ title: 'Probes', unit: 'ops', description: 'By node and result.' }, [
      rateBy('node, result', 'eip_admission_control_plane_probes_total'),
      '{{node}} {{result}}',
    ]),
    lines({ title: 'Moves', unit: 'short', description: 'By reason and result.' }, [
      `sum by (reason, result) (increase(${guard('moves_total')}[$__rate_interval]))`,
      '{{reason}} {{result}}',
    ]),
    lines(
      {
        title: 'Ages',
        unit: 's',
        description: 'Since the holder answered, and since the provider was read (a minute is normal).',
      },
      [`max(${guard('silent_seconds')})`, 'holder silent'],
      [`min(${guard('cloud_read_age_seconds')})`, 'cloud read'],
    ),
  ],
}

const processes: Row = {
  title: 'Processes',
  panels: [
    lines(
      { title: 'Memory', unit: 'bytes', description: 'Resident, and the JavaScript heap in it.' },
      [seriesOfOurs('process_resident_memory_bytes'), 'resident {{instance}}'],
      [seriesOfOurs('nodejs_heap_size_used_bytes'), 'heap {{instance}}'],
    ),
    lines({ title: 'Event loop lag', unit: 's', description: 'Milliseconds are normal.' }, [
      seriesOfOurs('nodejs_eventloop_lag_seconds'),
      '{{instance}}',
    ]),
    lines({ title: 'Event loop busy', unit: 'percentunit', description: 'At 100 % reviews wait.' }, [
      seriesOfOurs('nodejs_eventloop_utilization_ratio'),
      '{{instance}}',
    ]),
    lines({ title: 'CPU', unit: 'percentunit', description: 'Of one CPU.' }, [
      `rate(${series('process_cpu_seconds_total')}[$__rate_interval]) and on (${target}) eip_admission_build_info`,
      '{{instance}}',
    ]),
    lines({ title: 'Starts', unit: 'short', description: 'Within an hour.' }, [
      `changes(${series('process_start_time_seconds')}[1h]) and on (${target}) eip_admission_build_info`,
      '{{instance}}',
    ]),
    lines({ title: 'Versions', unit: 'short', description: 'Two versions are normal only in a rolling update.' }, [
      `count by (version, node_version, cloud) (${series('eip_admission_build_info')})`,
      '{{version}} {{cloud}}',
    ]),
    lines(
      {
        title: 'Settings',
        unit: 'short',
        description: 'Of the configuration file. 0 is normal; the log says what to do.',
      },
      [`sum(1 - ${series('eip_admission_settings_last_reload_successful')})`, 'processes that refused the file'],
      [`max(${series('eip_admission_settings_need_restart')})`, 'settings that need a restart'],
    ),
    lines({ title: 'Calls to the API server', unit: 'ops', description: 'By method and result.', width: 12 }, [
      rateBy('method, result', 'eip_admission_api_server_call_duration_seconds_count'),
      '{{method}} {{result}}',
    ]),
    lines({ title: 'Missing rights', unit: 'short', description: '/readyz names one.' }, [
      `max(${series('eip_admission_missing_rights')})`,
      'rights that the API server denied',
    ]),
    lines(
      {
        title: 'Silence of watches',
        unit: 's',
        description: 'More than six minutes mean a lost connection.',
        width: 12,
      },
      [`max by (kind) (${series('eip_admission_watch_silent_seconds')})`, '{{kind}}'],
    ),
  ],
}

const certificates: Row = {
  title: 'Certificates',
  panels: [
    lines(
      { title: 'Serving certificate ends in', unit: 's', description: 'Renewed when a third is left.', width: 12 },
      [`min by (instance) (${series('eip_admission_cert_not_after_timestamp_seconds')}) - time()`, '{{instance}}'],
    ),
    lines(
      {
        title: 'Authority ends in',
        unit: 's',
        description: 'The first of those that the API server trusts.',
        width: 12,
      },
      [`min(${series('eip_admission_ca_not_after_timestamp_seconds')}) - time()`, 'authority'],
    ),
  ],
}

/** The rows of the dashboard, what users feel first. */
export const rows: Row[] = [addresses, admission, cloud, controllers, announcing, controlPlane, processes, certificates]
