/** A metric: the process registers it, and the reference page lists it. */
export type MetricRow = {
  type: 'counter' | 'gauge' | 'histogram'
  /** A sentence for people who build a dashboard. */
  help: string
  labels?: readonly string[]
  /** Upper bounds in seconds. */
  buckets?: readonly number[]
}

/** Some end beyond all our time-outs, so that a slow call differs from one that never ended. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Every metric of the process by its name. */
export const catalogue = {
  eip_admission_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels say which version runs, for which cloud.',
    labels: ['version', 'node_version', 'cloud'],
  },
  eip_admission_review_duration_seconds: {
    type: 'histogram',
    help: 'Admission reviews, by webhook and verdict.',
    labels: ['webhook', 'verdict'],
    buckets,
  },
  eip_admission_services_without_admission_total: {
    type: 'counter',
    help: 'Services that the controllers completed because admission had not reviewed them.',
  },
  eip_admission_webhooks_reached: {
    type: 'gauge',
    help: 'Whether the API server calls the webhooks and uses their answers, as the last probes showed.',
  },
  eip_admission_missing_rights: {
    type: 'gauge',
    help: 'Rights that the API server denied to the process within the last ten minutes; `/readyz` names one.',
  },
  eip_admission_running_predecessors: {
    type: 'gauge',
    help: 'Workloads with pods of a program that eip-admission replaces, at the leader.',
  },
  eip_admission_addresses: {
    type: 'gauge',
    help: 'ElasticIPs, by phase and location.',
    labels: ['phase', 'location'],
  },
  eip_admission_addresses_limit: {
    type: 'gauge',
    help: 'The maximum of addresses, by what it applies to: cluster, namespace or unbound. Absent without a limit.',
    labels: ['scope'],
  },
  eip_admission_addresses_counted: {
    type: 'gauge',
    help: 'Addresses that count for a maximum, by what it applies to; namespace has those of the namespace with the most.',
    labels: ['scope'],
  },
  eip_admission_oldest_pending_seconds: {
    type: 'gauge',
    help: 'How long the oldest ElasticIP of a Service has waited for its address; 0 if none waits. Those of refused Services do not count.',
  },
  eip_admission_oldest_unannounced_seconds: {
    type: 'gauge',
    help: 'For how long the process has seen a Service that has an address and does not show it; 0 if none. Announcing software takes seconds.',
  },
  eip_admission_last_sweep_timestamp_seconds: {
    type: 'gauge',
    help: 'When the last sweep without an error ended, in seconds since 1970.',
  },
  eip_admission_unneeded_reservations: {
    type: 'gauge',
    help: 'Reservations that no Service needs, as the last sweep saw them: orphan, surplus or untagged.',
    labels: ['kind'],
  },
  eip_admission_cluster_id_in_use: {
    type: 'gauge',
    help: 'Whether another cluster uses the id of this cluster, as the leader sees it.',
  },
  eip_admission_other_project: {
    type: 'gauge',
    help: 'Whether the settings name another project than the ledger remembers, or the project could not be read yet.',
  },
  eip_admission_cloud_call_duration_seconds: {
    type: 'histogram',
    help: 'Calls to the provider, by name and status or fault.',
    labels: ['call', 'result'],
    buckets,
  },
  eip_admission_cloud_last_success_timestamp_seconds: {
    type: 'gauge',
    help: 'When the provider last completed a call, in seconds since 1970.',
  },
  eip_admission_api_server_call_duration_seconds: {
    type: 'histogram',
    help: 'Calls to the API server, by HTTP method and result: ok, or the reason of the failure.',
    labels: ['method', 'result'],
    buckets,
  },
  eip_admission_watch_silent_seconds: {
    type: 'gauge',
    help: 'How long ago the watch of a kind last had an answer. More than six minutes mean a lost connection.',
    labels: ['kind'],
  },
  eip_admission_reconcile_duration_seconds: {
    type: 'histogram',
    help: 'Reconciles of one object, by controller and result: ok, conflict, terminal, unsettled, error or aborted.',
    labels: ['controller', 'result'],
    buckets,
  },
  workqueue_depth: {
    type: 'gauge',
    help: 'Keys that wait for a worker, by controller.',
    labels: ['name'],
  },
  workqueue_adds_total: {
    type: 'counter',
    help: 'Keys that were added, by controller.',
    labels: ['name'],
  },
  workqueue_retries_total: {
    type: 'counter',
    help: 'Keys that were added again after a failure, by controller.',
    labels: ['name'],
  },
  workqueue_queue_duration_seconds: {
    type: 'histogram',
    help: 'How long a key waited for a worker, by controller.',
    labels: ['name'],
    buckets,
  },
  workqueue_work_duration_seconds: {
    type: 'histogram',
    help: 'How long the work on a key took, by controller.',
    labels: ['name'],
    buckets,
  },
  workqueue_unfinished_work_seconds: {
    type: 'gauge',
    help: 'How long the work in progress has taken so far, all keys together, by controller.',
    labels: ['name'],
  },
  leader_election_master_status: {
    type: 'gauge',
    help: 'Whether this replica holds the lease, by the name of the lease.',
    labels: ['name'],
  },
  eip_admission_leader: {
    type: 'gauge',
    help: 'Whether this replica runs the controllers.',
  },
  eip_admission_announcer_problems_total: {
    type: 'counter',
    help: 'Problems with the configuration of the announcing software, such as a pool that MetalLB refused. One that lasts counts every ten minutes.',
  },
  eip_admission_nodes_with_peers: {
    type: 'gauge',
    help: 'Nodes whose BGP peers are known.',
  },
  eip_admission_nodes_without_machine: {
    type: 'gauge',
    help: 'Nodes that are not ready and have lost their machines.',
  },
  eip_admission_cert_not_after_timestamp_seconds: {
    type: 'gauge',
    help: 'When the serving certificate expires, in seconds since 1970.',
  },
  eip_admission_ca_not_after_timestamp_seconds: {
    type: 'gauge',
    help: 'When the first certificate authority that the API server trusts this process by expires, in seconds since 1970.',
  },
  eip_admission_control_plane_holder: {
    type: 'gauge',
    help: 'The node that has the control-plane address, as the provider was last read.',
    labels: ['node'],
  },
  eip_admission_control_plane_leader: {
    type: 'gauge',
    help: 'Whether this guardian may move the control-plane address.',
  },
  eip_admission_control_plane_problem: {
    type: 'gauge',
    help: 'Whether the control-plane address needs the attention of an operator.',
  },
  eip_admission_control_plane_cloud_read_age_seconds: {
    type: 'gauge',
    help: 'How long ago this guardian read the provider for the holder. Only the one that leads reads often.',
  },
  eip_admission_control_plane_silent_seconds: {
    type: 'gauge',
    help: 'How long ago the API server of the holder answered a probe.',
  },
  eip_admission_control_plane_probes_total: {
    type: 'counter',
    help: 'Probes of API servers, by node and result: ok or failed.',
    labels: ['node', 'result'],
  },
  eip_admission_control_plane_moves_total: {
    type: 'counter',
    help: 'Tried moves of the control-plane address, by reason and result.',
    labels: ['reason', 'result'],
  },
  eip_admission_control_plane_outage_seconds_total: {
    type: 'counter',
    help: 'Time without a good answer at the control-plane address around its moves.',
  },
  eip_admission_settings_last_reload_successful: {
    type: 'gauge',
    help: 'Whether the process took up the configuration file as it is now. Absent without such a file.',
  },
  eip_admission_settings_need_restart: {
    type: 'gauge',
    help: 'Settings of the configuration file that count after a restart. Absent without such a file.',
  },
  process_cpu_seconds_total: { type: 'counter', help: 'CPU time of the process since its start.' },
  process_resident_memory_bytes: { type: 'gauge', help: 'Resident memory of the process.' },
  process_open_fds: { type: 'gauge', help: 'Open file descriptors. Absent where the system does not tell.' },
  process_start_time_seconds: { type: 'gauge', help: 'When the process started, in seconds since 1970.' },
  nodejs_heap_size_used_bytes: { type: 'gauge', help: 'JavaScript heap in use.' },
  nodejs_eventloop_lag_seconds: { type: 'gauge', help: 'How late the event loop ran a callback just now.' },
  nodejs_eventloop_utilization_ratio: {
    type: 'gauge',
    help: 'Share of time that the event loop was busy since the metrics were last read.',
  },
} as const satisfies Record<string, MetricRow>

export type Catalogue = typeof catalogue

/** The names of the metrics of one type. */
export type MetricName<T extends MetricRow['type']> = {
  [name in keyof Catalogue]: Catalogue[name]['type'] extends T ? name : never
}[keyof Catalogue]

/** The labels of a metric, each with its value. */
export type LabelsOf<N extends keyof Catalogue> = Record<
  Catalogue[N] extends { labels: readonly (infer L extends string)[] } ? L : never,
  string
>
