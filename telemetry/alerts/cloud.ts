import { type AlertGroup, alertsOf, per, perInstall, rises, sinceLeader, where } from './alert.ts'

const calls = 'eip_admission_cloud_call_duration_seconds_count'
const noAddress = { file: 'guides/troubleshooting.md', heading: 'A Service has no address' }
const noAnswer = '{result=~"unavailable|rate-limit"}'
const rate = (selector: string) => `sum ${perInstall} (rate(${calls}${selector}[10m]))`

/** The alerts that identify the provider as the cause: their consequences page no one. */
export const cloudCauses = ['EIPAdmissionCloudRefuses', 'EIPAdmissionCloudSilent'] as const

/** Alerts about a provider that refuses calls, fails, or is not called. */
export const cloudAlerts: AlertGroup = {
  title: 'The provider',
  alerts: alertsOf({
    EIPAdmissionCloudRefuses: {
      severity: 'critical',
      for: '5m',
      expr: rises(`${calls}{result=~"quota|auth"}`, { by: per('call', 'result'), window: '15m' }),
      summary: 'The provider refuses calls: a quota is used up, or the key lacks a right.',
      description: `The provider refused {{ $value | printf "%.0f" }} calls of {{ $labels.call }} with {{ $labels.result }} within 15 minutes, of eip-admission ${where}.`,
      symptom: '`kubectl create` fails and quotes the provider, or Services stay `<pending>`.',
      action:
        'For `quota`, release addresses or request a higher quota. For `auth`, correct the key. `doctor` says which it is.',
      guide: { file: 'guides/troubleshooting.md', heading: '`kubectl create` or `apply` is refused' },
    },
    EIPAdmissionCloudErrors: {
      severity: 'warning',
      for: '20m',
      expr: `${rate(noAnswer)}\n/ ${rate('')} > 0.2`,
      quietWhile: cloudCauses,
      summary: 'More than a fifth of the calls to the provider fail.',
      description: `{{ $value | humanizePercentage }} of the calls of eip-admission ${where} to the provider fail or meet its rate limit.`,
      symptom: 'New Services get their address late, and deleted Services stay in `Terminating` longer.',
      action:
        "See the vendor's status page. If the `result` of calls is `rate-limit`, other programs use up the calls: give each its own token.",
      guide: noAddress,
    },
    EIPAdmissionCloudSilent: {
      severity: 'critical',
      for: '5m',
      expr:
        `${sinceLeader('eip_admission_cloud_last_success_timestamp_seconds')} > 300\n` +
        `and on (cluster, namespace) ${rate(noAnswer)} > 0`,
      // A refused key is the cause, whatever else fails now and then.
      quietWhile: ['EIPAdmissionCloudRefuses'],
      summary: 'The provider is down or unreachable: it has completed no call for more than five minutes.',
      description: `The provider last completed a call of the leader ${where} {{ $value | humanizeDuration }} ago, and calls since then failed.`,
      symptom:
        'New Services stay `<pending>`, and deleted Services `Terminating`. Services that have an address keep it.',
      action:
        "See the vendor's status page. If the provider works, run `doctor`: it says whether the network or " +
        'the rate limit is the cause. When the provider is back, everything continues within five minutes.',
      guide: { file: 'guides/monitoring.md', heading: 'When the provider is down' },
    },
    EIPAdmissionSweepOld: {
      severity: 'warning',
      for: '10m',
      expr: `${sinceLeader('eip_admission_last_sweep_timestamp_seconds')} > 1800`,
      quietWhile: cloudCauses,
      summary: 'No sweep has succeeded for half an hour.',
      description: `The last good sweep of the leader ${where} ended {{ $value | humanizeDuration }} ago.`,
      symptom: 'Nothing at first. eip-admission does not notice lost addresses, and does not release orphans.',
      action:
        'Run `kubectl logs` of the leader: it says why sweeps fail. With `--sweep-interval` above 20m, write your own rule.',
      guide: { file: 'guides/troubleshooting.md', heading: 'Addresses are reserved that no Service uses' },
    },
  }),
}
