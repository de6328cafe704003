import { type AlertGroup, alertsOf, per, perInstall, rises, sinceLeader } from './alert.ts'

const where = 'in namespace {{ $labels.namespace }}'
const calls = 'eip_admission_cloud_call_duration_seconds_count'
const noAddress = { file: 'guides/troubleshooting.md', heading: 'A Service has no address' }
const noAnswer = '{result=~"unavailable|rate-limit"}'
const rate = (selector: string) => `sum ${perInstall} (rate(${calls}${selector}[10m]))`

/** The alerts that say that the cloud is the cause: their consequences page no one. */
export const cloudCauses = ['EIPAdmissionCloudRefuses', 'EIPAdmissionCloudSilent'] as const

/** A cloud that refuses, fails or is not asked. */
export const cloudAlerts: AlertGroup = {
  title: 'The provider',
  alerts: alertsOf({
    EIPAdmissionCloudRefuses: {
      severity: 'critical',
      for: '5m',
      expr: rises(`${calls}{result=~"quota|auth"}`, { by: per('call', 'result'), window: '15m' }),
      summary: 'The provider refuses calls: a quota is used up, or the key lacks a right.',
      description: `The provider refused {{ $value | printf "%.0f" }} calls of {{ $labels.call }} with {{ $labels.result }} within 15 minutes, of eip-admission ${where}.`,
      symptom: '`kubectl create` refuses Services with the words of the provider, or they stay at `<pending>`.',
      action: 'quota: release addresses or ask for a higher quota. auth: correct the key. `doctor` says which.',
      guide: { file: 'guides/troubleshooting.md', heading: '`kubectl create` or `apply` is refused' },
    },
    EIPAdmissionCloudErrors: {
      severity: 'warning',
      for: '20m',
      expr: `${rate(noAnswer)}\n/ ${rate('')} > 0.2`,
      quietWhile: cloudCauses,
      summary: 'More than a fifth of the calls to the provider fail.',
      description: `{{ $value | humanizePercentage }} of the calls of eip-admission ${where} to the provider fail or meet its rate limit.`,
      symptom: 'New Services get their address late, and deleted ones stay in `Terminating` for longer.',
      action:
        "Look at the vendor's status page. Where `result` of the calls is `rate-limit`, other programs use up the calls: give each a token of its own.",
      guide: noAddress,
    },
    EIPAdmissionCloudSilent: {
      severity: 'critical',
      for: '5m',
      expr:
        `${sinceLeader('eip_admission_cloud_last_success_timestamp_seconds')} > 300\n` +
        `and on (cluster, namespace) ${rate(noAnswer)} > 0`,
      // A key that is refused is the cause, whatever else fails now and then.
      quietWhile: ['EIPAdmissionCloudRefuses'],
      summary: 'The provider is down, or cannot be reached: for more than five minutes it has completed no call.',
      description: `The provider last completed a call of the leader ${where} {{ $value | humanizeDuration }} ago, and calls since then failed.`,
      symptom:
        'New Services stay at `<pending>`, and deleted ones in `Terminating`. Services that have an address keep it.',
      action:
        "Look at the vendor's status page. If the provider works, run `doctor`: it says whether the way to the API or the " +
        'rate limit is the cause. When the provider is back, all continues automatically within five minutes.',
      guide: { file: 'guides/monitoring.md', heading: 'When the provider is down' },
    },
    EIPAdmissionSweepOld: {
      severity: 'warning',
      for: '10m',
      expr: `${sinceLeader('eip_admission_last_sweep_timestamp_seconds')} > 1800`,
      quietWhile: cloudCauses,
      summary: 'No sweep has ended without an error for half an hour.',
      description: `The last good sweep of the leader ${where} ended {{ $value | humanizeDuration }} ago.`,
      symptom: 'None at first. Lost addresses are not noticed, and orphans are not released.',
      action:
        'Run `kubectl logs` of the leader: it says why sweeps fail. With `--sweep-interval` above 20m, write a rule of your own.',
      guide: { file: 'guides/troubleshooting.md', heading: 'Addresses are reserved that no Service uses' },
    },
  }),
}
