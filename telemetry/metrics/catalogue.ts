/** A metric, which the process registers and the reference page lists. */
export type MetricRow = {
  type: 'counter' | 'gauge' | 'histogram'
  /** A sentence for people who build a dashboard. */
  help: string
  labels: readonly string[]
}

/** Makes rows of one type from a help text and the names of labels. */
function rowsOf<T extends MetricRow['type']>(type: T) {
  return <L extends string = never>(help: string, ...labels: L[]) => ({ type, help, labels })
}
const [counter, gauge, histogram] = [rowsOf('counter'), rowsOf('gauge'), rowsOf('histogram')]

/** Every metric of the process by its name. */
export const catalogue = {
  eip_admission_build_info: gauge(
    'Always 1; the labels name the versions of eip-admission and Node, and the provider.',
    'version',
    'node_version',
    'cloud',
  ),
  eip_admission_review_duration_seconds: histogram('Admission reviews, by webhook and verdict.', 'webhook', 'verdict'),
  eip_admission_services_without_admission_total: counter(
    'Services that the controllers completed because admission had not reviewed them.',
  ),
  eip_admission_webhooks_reached: gauge(
    'Whether the API server calls the webhooks and uses their answers, as the last probes showed.',
  ),
  eip_admission_missing_rights: gauge(
    'Rights that the API server has denied to the process within the last ten minutes; `/readyz` names one.',
  ),
  eip_admission_running_predecessors: gauge(
    'Workloads with pods of a program that eip-admission replaces, at the leader.',
  ),
  eip_admission_addresses: gauge('ElasticIPs, by phase and location.', 'phase', 'location'),
  eip_admission_addresses_limit: gauge(
    'The limit of addresses, by scope: cluster, namespace or unbound. Absent without a limit.',
    'scope',
  ),
  eip_admission_addresses_counted: gauge(
    'Addresses that count against a limit, by scope. For namespace, the value is that of the namespace with the most addresses.',
    'scope',
  ),
  eip_admission_oldest_pending_seconds: gauge(
    'How long the oldest ElasticIP of a Service has waited for its address; 0 if none waits. Those of refused Services do not count.',
  ),
  eip_admission_oldest_unannounced_seconds: gauge(
    'How long a Service has had an address without showing it in its status; 0 if none. Announcing software takes seconds.',
  ),
  eip_admission_last_sweep_timestamp_seconds: gauge(
    'When the last sweep without an error ended, in seconds since 1970.',
  ),
  eip_admission_unneeded_reservations: gauge(
    'Reservations that no Service needs, as the last sweep saw them: orphan, surplus or untagged.',
    'kind',
  ),
  eip_admission_cluster_id_in_use: gauge('Whether another cluster uses the id of this cluster, as the leader sees it.'),
  eip_admission_other_project: gauge(
    'Whether the settings name another project than the ledger remembers, or the project could not be read yet.',
  ),
  eip_admission_cloud_call_duration_seconds: histogram(
    'Calls to the provider, by name and status or fault.',
    'call',
    'result',
  ),
  eip_admission_cloud_last_success_timestamp_seconds: gauge(
    'When the provider last completed a call, in seconds since 1970.',
  ),
  eip_admission_api_server_call_duration_seconds: histogram(
    'Calls to the API server, by HTTP method and result: ok, or the reason of the failure.',
    'method',
    'result',
  ),
  eip_admission_watch_silent_seconds: gauge(
    'How long ago the watch of a kind last had an answer. More than six minutes mean a lost connection.',
    'kind',
  ),
  eip_admission_reconcile_duration_seconds: histogram(
    'Reconciles of one object, by controller and result: ok, conflict, terminal, unsettled, error or aborted.',
    'controller',
    'result',
  ),
  workqueue_depth: gauge('Keys that wait for a worker, by controller.', 'name'),
  workqueue_adds_total: counter('Keys that were added, by controller.', 'name'),
  workqueue_retries_total: counter('Keys that were added again after a failure, by controller.', 'name'),
  workqueue_queue_duration_seconds: histogram('How long a key waited for a worker, by controller.', 'name'),
  workqueue_work_duration_seconds: histogram('How long the work on a key took, by controller.', 'name'),
  workqueue_unfinished_work_seconds: gauge(
    'How long the work in progress has taken so far, all keys together, by controller.',
    'name',
  ),
  leader_election_master_status: gauge('Whether this replica holds the lease, by the name of the lease.', 'name'),
  eip_admission_leader: gauge('Whether this replica runs the controllers.'),
  eip_admission_announcer_problems_total: counter(
    'Problems with the configuration of the announcing software, such as a pool that MetalLB refused. A lasting problem counts again every ten minutes.',
  ),
  eip_admission_nodes_with_peers: gauge('Nodes whose BGP peers are known.'),
  eip_admission_nodes_without_machine: gauge('Nodes that are not ready and have lost their machines.'),
  eip_admission_cert_not_after_timestamp_seconds: gauge('When the serving certificate expires, in seconds since 1970.'),
  eip_admission_ca_not_after_timestamp_seconds: gauge(
    'When the first CA through which the API server trusts this process expires, in seconds since 1970.',
  ),
  eip_admission_control_plane_holder: gauge(
    'The node that has the control-plane address, according to the last read from the provider.',
    'node',
  ),
  eip_admission_control_plane_leader: gauge('Whether this guardian may move the control-plane address.'),
  eip_admission_control_plane_problem: gauge('Whether the control-plane address needs an operator.'),
  eip_admission_control_plane_cloud_read_age_seconds: gauge(
    'How long ago this guardian read the provider for the holder. Only the one that leads reads often.',
  ),
  eip_admission_control_plane_silent_seconds: gauge('How long ago the API server of the holder answered a probe.'),
  eip_admission_control_plane_probes_total: counter(
    'Probes of API servers, by node and result: ok or failed.',
    'node',
    'result',
  ),
  eip_admission_control_plane_moves_total: counter(
    'Attempted moves of the control-plane address, by reason and result.',
    'reason',
    'result',
  ),
  eip_admission_control_plane_outage_seconds_total: counter(
    'Time without a healthy answer at the control-plane address around its moves.',
  ),
  eip_admission_settings_last_reload_successful: gauge(
    'Whether the process uses the current configuration file. Absent without such a file.',
  ),
  eip_admission_settings_need_restart: gauge(
    'Changed settings of the configuration file that need a restart. Absent without such a file.',
  ),
  process_cpu_seconds_total: counter('CPU time of the process since its start.'),
  process_resident_memory_bytes: gauge('Resident memory of the process.'),
  process_open_fds: gauge('Open file descriptors. Absent if the system does not report them.'),
  process_start_time_seconds: gauge('When the process started, in seconds since 1970.'),
  nodejs_heap_size_used_bytes: gauge('JavaScript heap in use.'),
  nodejs_eventloop_lag_seconds: gauge('How late the event loop last ran a callback.'),
  nodejs_eventloop_utilization_ratio: gauge(
    'Share of time that the event loop was busy since the metrics were last read.',
  ),
} satisfies Record<string, MetricRow>

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
