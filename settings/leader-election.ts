import { formatDuration } from '../lib/duration.ts'
import { boolean, duration, namespace, objectName } from './formats.ts'
import type { Problem } from './problems.ts'
import { readSettings, type Sources } from './resolve.ts'
import type { SettingsTable } from './setting.ts'

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

/** Problems of the election's times together, by upstream's rules: otherwise two replicas could lead at once. */
export function leaderElectionProblems(sources: Pick<Sources, 'flags' | 'env'>): Problem[] {
  const { values } = readSettings(leaderElection, sources)
  if (!values?.leaderElect) return []
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = values
  const [lease, renew, retry] = [leaseDurationMs, renewDeadlineMs, retryPeriodMs].map(formatDuration)
  const problems: Problem[] = []
  if (leaseDurationMs <= renewDeadlineMs) {
    problems.push({
      setting: 'lease duration',
      wrong: `${lease} is not longer than the renew deadline of ${renew}`,
      right: '--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline',
    })
  }
  if (renewDeadlineMs <= 1.2 * retryPeriodMs) {
    problems.push({
      setting: 'renew deadline',
      wrong: `${renew} is too close to the retry period of ${retry}`,
      right: '--leader-elect-renew-deadline must be greater than 1.2 times --leader-elect-retry-period',
    })
  }
  return problems
}
