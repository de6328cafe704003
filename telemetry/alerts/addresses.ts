import { type AlertGroup, alertsOf, atLeader, per, perInstall, where } from './alert.ts'
import { cloudCauses } from './cloud.ts'

/** Addresses that users wait for, that are no longer allowed, or that are not needed. */
export const addressAlerts: AlertGroup = {
  title: 'Addresses',
  alerts: alertsOf({
    EIPAdmissionAddressPending: {
      severity: 'critical',
      for: '10m',
      expr: `max ${perInstall} (eip_admission_oldest_pending_seconds) > 300`,
      quietWhile: cloudCauses,
      followsQuota: true,
      summary: 'Services have waited for their addresses for 15 minutes.',
      description: `The oldest ElasticIP without an address, of eip-admission ${where}, has waited for {{ $value | humanizeDuration }}.`,
      symptom: 'Services stay `<pending>`, and clients cannot reach them.',
      action: 'Run `kubectl eip status`: it names the oldest. `kubectl eip why -n NAMESPACE SERVICE` says what to do.',
      guide: { file: 'guides/troubleshooting.md', heading: 'A Service has no address' },
    },
    EIPAdmissionAddressesNotAnnounced: {
      severity: 'critical',
      for: '10m',
      expr: `max ${perInstall} (eip_admission_oldest_unannounced_seconds) > 300`,
      summary: 'Services have addresses that are not announced.',
      description: `A Service of eip-admission ${where} has had an address for {{ $value | humanizeDuration }}, and its status does not show it.`,
      symptom: 'Packets for these addresses do not reach the cluster. Services stay `<pending>`.',
      action:
        'Run `doctor`: its section Announcing says what is wrong with the announcing software. ' +
        '`kubectl eip why -n NAMESPACE SERVICE` shows its Events for one Service.',
      guide: { file: 'guides/troubleshooting.md', heading: 'Announcing' },
    },
    EIPAdmissionLimitNear: {
      severity: 'warning',
      for: '15m',
      expr:
        `max ${per('scope')} (eip_admission_addresses_counted)\n` +
        `/ max ${per('scope')} (eip_admission_addresses_limit) > 0.9`,
      summary: 'The cluster or a namespace uses more than 90 % of the addresses that it may have.',
      description: `{{ $value | humanizePercentage }} of the maximum are taken (scope {{ $labels.scope }}), of eip-admission ${where}.`,
      symptom:
        'Nothing yet. At the limit `kubectl create` refuses Services (cluster, namespace), or they wait for the ' +
        'controller (unbound).',
      action:
        'Run `kubectl eip list -A`. Delete Services that are not needed, release kept addresses with ' +
        '`kubectl eip release`, or raise the limit.',
      guide: { file: 'guides/troubleshooting.md', heading: 'A limit is reached' },
    },
    EIPAdmissionReservationsUnneeded: {
      severity: 'warning',
      for: '2h',
      expr: `max ${per('kind')} (${atLeader('eip_admission_unneeded_reservations')}) > 0`,
      summary: 'There are still reservations that no Service needs.',
      description: `{{ $value }} reservations of the kind {{ $labels.kind }} cost money and are not released, of eip-admission ${where}.`,
      symptom: 'Nothing, but the provider bills the reservations. Sweeps keep reservations whose owner is uncertain.',
      action:
        'Run `doctor`: `leaked-reservations` lists them. Delete those that are not needed in the console of ' +
        'the provider. The log of the leader says why it keeps them.',
      guide: { file: 'guides/troubleshooting.md', heading: 'Addresses are reserved that no Service uses' },
    },
    EIPAdmissionClusterIdInUse: {
      severity: 'critical',
      for: '5m',
      expr: `max ${perInstall} (${atLeader('eip_admission_cluster_id_in_use')}) == 1`,
      summary: 'Another cluster uses the id of this cluster.',
      description: `Two clusters have the same id, so eip-admission ${where} neither reserves nor releases addresses.`,
      symptom: 'New Services get no address, and deleted ones stay in `Terminating`.',
      action:
        'Find the copy of this cluster, such as a restored backup, and stop eip-admission there. ' +
        '`kubectl get events -n eip-admission` names the id, and the command to use if the other cluster no longer exists.',
      guide: { file: 'guides/troubleshooting.md', heading: 'Addresses are reserved that no Service uses' },
    },
    EIPAdmissionOtherProject: {
      severity: 'critical',
      for: '5m',
      expr: `max ${perInstall} (eip_admission_other_project) == 1`,
      summary: 'Another project of the provider is configured.',
      description: `A replica of eip-admission ${where} has the settings of another project than its ledger, and neither reserves nor releases addresses.`,
      symptom:
        'New Services get no address from that replica. If all replicas are wrong, deleted Services stay in `Terminating`.',
      action:
        'Run `doctor`, or read `/readyz` of the replica. Both name the two projects, and the command to use if you want to change the project.',
      guide: { file: 'guides/troubleshooting.md', heading: 'Another project is configured' },
    },
  }),
}
