import { type AlertGroup, per, perInstall, rises, sinceLeader } from './alert.ts'

const where = 'in namespace {{ $labels.namespace }}'
const calls = 'eip_admission_cloud_call_duration_seconds_count'
const noAddress = { file: 'guides/troubleshooting.md', heading: 'A Service has no address' }
const rate = (selector: string) => `sum ${perInstall} (rate(${calls}${selector}[10m]))`

/** A cloud that refuses, fails or is not asked. */
export const cloudAlerts: AlertGroup = {
  title: 'The cloud',
  alerts: [
    {
      name: 'EIPAdmissionCloudRefuses',
      severity: 'critical',
      for: '5m',
      expr: rises(`${calls}{result=~"quota|auth"}`, { by: per('call', 'result'), window: '15m' }),
      summary: 'The cloud refuses calls: a quota is used up, or the key lacks a right.',
      description: `The cloud refused {{ $value | printf "%.0f" }} calls of {{ $labels.call }} with {{ $labels.result }} within 15 minutes, of eip-admission ${where}.`,
      symptom: '`kubectl create` refuses Services with the words of the cloud, or they stay at `<pending>`.',
      action: 'quota: release addresses or ask for a higher quota. auth: correct the key. `doctor` says which.',
      guide: { file: 'guides/troubleshooting.md', heading: '`kubectl create` or `apply` is refused' },
    },
    {
      name: 'EIPAdmissionCloudErrors',
      severity: 'warning',
      for: '20m',
      expr: `${rate('{result=~"unavailable|rate-limit"}')}\n/ ${rate('')} > 0.2`,
      summary: 'More than a fifth of the calls to the cloud fail.',
      description: `{{ $value | humanizePercentage }} of the calls of eip-admission ${where} to the cloud fail or meet its rate limit.`,
      symptom: 'New Services get their address late, and deleted ones stay in `Terminating` for longer.',
      action: "Look at the vendor's status page, and for other programs that use the same project.",
      guide: noAddress,
    },
    {
      name: 'EIPAdmissionCloudSilent',
      severity: 'critical',
      for: '10m',
      expr: `${sinceLeader('eip_admission_cloud_last_success_timestamp_seconds')} > 1800`,
      summary: 'The cloud has carried out no call for half an hour.',
      description: `The last good call of the leader ${where} was {{ $value | humanizeDuration }} ago.`,
      symptom: 'No Service gets an address. Those that have one keep it.',
      action: 'Check the key and the way to the API of the cloud; the log of the leader has its answers.',
      guide: noAddress,
    },
    {
      name: 'EIPAdmissionSweepOld',
      severity: 'warning',
      for: '10m',
      expr: `${sinceLeader('eip_admission_last_sweep_timestamp_seconds')} > 1800`,
      summary: 'No sweep has ended without an error for half an hour.',
      description: `The last good sweep of the leader ${where} ended {{ $value | humanizeDuration }} ago.`,
      symptom: 'None at first. Lost addresses are not noticed, and orphans are not released.',
      action:
        'The log of the leader says why sweeps fail. With `--sweep-interval` above 20m, write a rule of your own.',
      guide: { file: 'guides/troubleshooting.md', heading: 'Addresses are reserved that no Service uses' },
    },
  ],
}
