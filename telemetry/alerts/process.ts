import { type AlertGroup, alertsOf, atLeader, ofOurs, per, perInstall, withoutGuardians, where } from './alert.ts'
import { cloudCauses } from './cloud.ts'

const idle = { file: 'guides/troubleshooting.md', heading: 'Webhooks answer, but the controllers do nothing' }
const notReady = { file: 'guides/troubleshooting.md', heading: 'The process does not start or is not ready' }
const reconciles = (selector: string) =>
  `sum ${per('controller')} (rate(eip_admission_reconcile_duration_seconds_count${selector}[15m]))`
const apiCalls = (selector: string) =>
  `sum ${perInstall} (${withoutGuardians(`rate(eip_admission_api_server_call_duration_seconds_count${selector}[10m])`)})`

/** Reasons of the API server that no healthy cluster gives. The others, such as Conflict, are part of the work. */
const failures =
  'Unreachable|Timeout|ServerTimeout|Unreadable|Unauthorized|Forbidden|InternalError|ServiceUnavailable|TooManyRequests'

/** Processes that do not run, do not lead, or make no progress. */
export const processAlerts: AlertGroup = {
  title: 'Controllers and the process',
  alerts: alertsOf({
    EIPAdmissionDown: {
      severity: 'critical',
      for: '10m',
      expr: 'absent(eip_admission_leader)',
      summary: 'Prometheus cannot scrape any process of eip-admission.',
      description: 'No process has been scraped for ten minutes: none is running, or Prometheus does not find them.',
      symptom: 'New Services get no address, and deleted ones stay in `Terminating`.',
      action: 'Run `kubectl get pods -n eip-admission`. If the pods run, check the targets of Prometheus.',
      guide: notReady,
    },
    EIPAdmissionNoLeader: {
      severity: 'critical',
      for: '5m',
      expr: `max ${perInstall} (eip_admission_leader) == 0`,
      summary: 'No replica runs the controllers.',
      description: `No replica ${where} has held the lease for five minutes.`,
      symptom:
        'Services that admission could not complete stay `<pending>`, and deleted Services stay in `Terminating`.',
      action:
        'Run `kubectl get lease -n kube-system cloud-controller-manager`. If a predecessor holds it, stop the predecessor. If it has no holder, a right is missing, or the ' +
        'replicas cannot reach the API server: run `doctor`.',
      guide: idle,
    },
    EIPAdmissionPredecessorRuns: {
      severity: 'critical',
      for: '2m',
      expr: `max ${perInstall} (eip_admission_running_predecessors) > 0`,
      summary: 'A program that eip-admission replaces is running alongside it.',
      description: `{{ $value }} workloads of a replaced program have pods while eip-admission leads ${where}.`,
      symptom: 'Both programs reserve an address for the same Service, and each overwrites the changes of the other.',
      action:
        'Run `kubectl get events -A --field-selector reason=PredecessorRuns`. Scale that workload to 0, and suspend any pipeline that starts it again.',
      guide: idle,
    },
    EIPAdmissionRestarts: {
      severity: 'warning',
      for: '0s',
      expr: ofOurs('changes(process_start_time_seconds[1h]) > 2'),
      summary: 'A process has started three times or more within an hour.',
      description: `{{ $labels.instance }} ${where} started {{ $value }} times within an hour.`,
      symptom: 'Reviews during a restart may fail.',
      action: 'Run `kubectl logs --previous`, and `kubectl describe pod` for `OOMKilled`.',
      guide: notReady,
    },
    EIPAdmissionSettingsRefused: {
      severity: 'warning',
      for: '15m',
      expr: `min ${perInstall} (eip_admission_settings_last_reload_successful) == 0`,
      summary: 'A changed configuration file has no effect.',
      description: `A process ${where} has kept its previous settings for a quarter of an hour: it refuses the configuration file.`,
      symptom: 'Nothing yet. If the file has a new token and the old one is revoked, no Service gets an address.',
      action:
        'Run `kubectl get events -A --field-selector reportingComponent=settings-reload`: an Event says what is wrong. Correct ' +
        'the Secret, or restore it.',
      guide: { file: 'guides/change-settings.md', heading: 'Rotate the token' },
    },
    EIPAdmissionQueueStuck: {
      severity: 'warning',
      for: '15m',
      expr: `max ${per('name')} (${atLeader('min_over_time(workqueue_depth[15m])')}) > 10`,
      quietWhile: cloudCauses,
      summary: 'The queue of a controller has been long for half an hour.',
      description: `{{ $value }} keys or more have waited in {{ $labels.name }} ${where} all the time.`,
      symptom: 'Changes to Services take effect late.',
      action:
        'See the row _Controllers_ of the dashboard. With `kubectl get service -o yaml --show-managed-fields`, ' +
        'look for a program that reverts the changes of eip-admission.',
      guide: { file: 'guides/troubleshooting.md', heading: 'Two controllers change the same Service' },
    },
    EIPAdmissionReconcilesFail: {
      severity: 'warning',
      for: '15m',
      expr: `${reconciles('{result=~"error|unsettled"}')}\n/ ${reconciles('{result!="aborted"}')} > 0.5`,
      quietWhile: cloudCauses,
      summary: 'More than half of the reconciles of a controller fail or do not settle.',
      description: `{{ $value | humanizePercentage }} of the reconciles of {{ $labels.controller }} ${where} fail.`,
      symptom: 'Services wait for their address or for their deletion.',
      action: 'Read the Events: `kubectl get events -A --field-selector type=Warning`.',
      guide: { file: 'guides/troubleshooting.md', heading: 'Two controllers change the same Service' },
    },
    EIPAdmissionAPIServerErrors: {
      severity: 'warning',
      for: '10m',
      expr: `${apiCalls(`{result=~"${failures}"}`)}\n/ ${apiCalls('')} > 0.1`,
      summary: 'More than a tenth of the calls to the API server fail.',
      description: `{{ $value | humanizePercentage }} of the calls of eip-admission ${where} to the API server fail.`,
      symptom: 'Services are completed late.',
      action:
        'Run `doctor`: `roles` names a missing right; then run `install` with its original flags, or upgrade the chart. The log has each failure.',
      guide: notReady,
    },
    EIPAdmissionWatchSilent: {
      severity: 'warning',
      for: '2m',
      expr: `max ${per('kind')} (eip_admission_watch_silent_seconds) > 420`,
      summary: 'A watch has had no answer for seven minutes.',
      description: `The watch of {{ $labels.kind }} ${where} has been silent for {{ $value | humanizeDuration }}.`,
      symptom: 'Changes are not noticed. After ten minutes the kubelet restarts the process.',
      action:
        'Check the network between the process and the API server, and whether a firewall or proxy cuts idle ' +
        'connections. `kubectl delete pod` opens new connections.',
      guide: notReady,
    },
    EIPAdmissionAnnouncerRefuses: {
      severity: 'critical',
      for: '1m',
      expr: `sum ${perInstall} (increase(eip_admission_announcer_problems_total[30m])) > 0`,
      summary: 'The announcing software refuses its configuration.',
      description: `eip-admission ${where} reported problems of the announcing software {{ $value | printf "%.0f" }} times within 30 minutes.`,
      symptom: 'New addresses are not announced, so clients cannot reach them.',
      action: 'Run `kubectl get events -A --field-selector reason=PeeringFailed`, and read the Events of Services.',
      guide: { file: 'guides/troubleshooting.md', heading: 'Announcing' },
    },
    EIPAdmissionNodeRemovalHeld: {
      severity: 'warning',
      for: '30m',
      expr: `max ${perInstall} (${atLeader('eip_admission_nodes_without_machine')}) > 0`,
      summary: 'Nodes have lost their machines and are not deleted.',
      description: `{{ $value }} nodes have no machine, and eip-admission ${where} keeps them.`,
      symptom: 'Pods of these nodes are not started elsewhere.',
      action:
        'Run `kubectl get events -A --field-selector reason=NodeNotDeleted`: usually more than `--max-node-removals` nodes have lost their machines.',
      guide: { file: 'guides/troubleshooting.md', heading: 'A node of a deleted machine stays' },
    },
  }),
}
