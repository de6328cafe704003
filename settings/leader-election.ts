import { formatDuration } from '../lib/duration.ts'
import { boolean, duration, namespace, objectName } from './formats.ts'
import type { Problem } from './problems.ts'
import { readSettings, type Sources } from './resolve.ts'
import { type Setting, type SettingsTable, titleOf } from './setting.ts'

/** The election of the replica that runs the controllers. */
export const leaderElection = {
  leaderElect: {
    title: 'leader election',
    flag: '--leader-elect',
    format: boolean,
    default: 'true',
    sentence: 'Only the replica that holds the lease runs the controllers.',
  },
  leaseDurationMs: {
    title: 'lease duration',
    flag: '--leader-elect-lease-duration',
    format: duration(1000),
    default: '6s',
    sentence:
      'How long the other replicas wait before they take the lease of a leader that does not renew it. It grows up to 24s while leaders renew too late.',
  },
  renewDeadlineMs: {
    title: 'renew deadline',
    flag: '--leader-elect-renew-deadline',
    format: duration(1000),
    default: '5s',
    sentence: 'How long a leader tries to renew its lease before it stops leading.',
  },
  retryPeriodMs: {
    title: 'retry period',
    flag: '--leader-elect-retry-period',
    format: duration(100),
    default: '1s',
    sentence: 'How often the leader renews the lease. The others look twice a second, and this often after a failure.',
  },
  leaseName: {
    title: 'lease name',
    flag: '--leader-elect-resource-name',
    format: objectName,
    default: 'cloud-controller-manager',
    sentence:
      "Name of the lease. With the predecessor's name, the predecessor and eip-admission never run controllers at the same time.",
  },
  leaseNamespace: {
    title: 'lease namespace',
    flag: '--leader-elect-resource-namespace',
    format: namespace,
    default: 'kube-system',
    sentence: 'Namespace of the lease.',
  },
} as const satisfies SettingsTable

/** Problems of the election's times together. */
export function leaderElectionProblems(sources: Pick<Sources, 'flags' | 'env'>): Problem[] {
  const { values } = readSettings(leaderElection, sources)
  if (!values?.leaderElect) return []
  return electionTimeProblems(
    { row: leaderElection.leaseDurationMs, ms: values.leaseDurationMs },
    { row: leaderElection.renewDeadlineMs, ms: values.renewDeadlineMs },
    { row: leaderElection.retryPeriodMs, ms: values.retryPeriodMs },
  )
}

type Time = { row: Pick<Setting<unknown>, 'title' | 'flag'>; ms: number }

/** Problems of the times of an election, by upstream's rules: otherwise two processes could lead at once. */
export function electionTimeProblems(lease: Time, renew: Time, retry: Time): Problem[] {
  const rules = [
    { longer: lease, shorter: renew, factor: 1, times: '' },
    { longer: renew, shorter: retry, factor: 1.2, times: '1.2 times ' },
  ]
  return rules
    .filter(({ longer, shorter, factor }) => longer.ms <= factor * shorter.ms)
    .map(({ longer, shorter, times }) => ({
      setting: titleOf(longer.row),
      wrong: `${formatDuration(longer.ms)} is not longer than ${times}the ${titleOf(shorter.row)} of ${formatDuration(shorter.ms)}`,
      right: `${longer.row.flag} must be greater than ${times}${shorter.row.flag}`,
    }))
}
