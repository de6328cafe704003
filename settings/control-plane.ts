import { formatDuration } from '../lib/duration.ts'
import { duration, number, objectName } from './formats.ts'
import { electionTimeProblems } from './leader-election.ts'
import type { Problem } from './problems.ts'
import { readSettings, type Sources } from './resolve.ts'
import { type SettingsTable, titleOf } from './setting.ts'

const probes = {
  probeIntervalMs: {
    title: 'control-plane probe interval',
    flag: '--control-plane-probe-interval',
    env: 'EIP_CONTROL_PLANE_PROBE_INTERVAL',
    format: duration(100),
    default: '1s',
    sentence:
      'How often each API server is probed, even if the previous probe has not ended. After a refusal, the next probe follows after half of the interval. Until an API server has become a candidate for the first time, the next probe follows a healthy answer after a quarter of it.',
  },
  probeTimeoutMs: {
    title: 'control-plane probe timeout',
    flag: '--control-plane-probe-timeout',
    env: 'EIP_CONTROL_PLANE_PROBE_TIMEOUT',
    format: duration(100),
    default: '3s',
    sentence: 'How long a probe waits for an answer before it counts as failed.',
  },
  probeFailures: {
    title: 'control-plane probe failures',
    flag: '--control-plane-probe-failures',
    env: 'EIP_CONTROL_PLANE_PROBE_FAILURES',
    format: number(1, 100),
    default: '3',
    sentence:
      'Failures in a row after which the control-plane address leaves its holder; twice as many if the holder has flapped.',
  },
  probeSuccesses: {
    title: 'control-plane probe successes',
    flag: '--control-plane-probe-successes',
    env: 'EIP_CONTROL_PLANE_PROBE_SUCCESSES',
    format: number(1, 1000),
    default: '10',
    sentence:
      'Healthy answers in a row that make a node a candidate. While the holder continues to fail, fewer are enough, at least two.',
  },
  controlPlaneCooldownMs: {
    title: 'control-plane cool-down',
    flag: '--control-plane-cooldown',
    env: 'EIP_CONTROL_PLANE_COOLDOWN',
    format: duration(1000),
    default: '30s',
    sentence:
      'Pause between moves after failed probes, which doubles with each move. The first three moves from a failing API server do not wait.',
  },
  controlPlaneReadMs: {
    title: 'control-plane read interval',
    flag: '--control-plane-read-interval',
    env: 'EIP_CONTROL_PLANE_READ_INTERVAL',
    format: duration(1000),
    default: '1m',
    sentence:
      'How often the guardian reads the holder from the provider while nothing fails. Around a move it does so immediately.',
  },
} as const satisfies SettingsTable

const lease = {
  guardianLeaseMs: {
    title: 'control-plane lease duration',
    flag: '--control-plane-lease-duration',
    env: 'EIP_CONTROL_PLANE_LEASE_DURATION',
    format: duration(1000),
    default: '3s',
    sentence: 'How long the other guardians wait before they take the lease of a leader that does not renew it.',
  },
  guardianRenewDeadlineMs: {
    title: 'control-plane renew deadline',
    flag: '--control-plane-renew-deadline',
    env: 'EIP_CONTROL_PLANE_RENEW_DEADLINE',
    format: duration(500),
    default: '2s',
    sentence: 'How long the leading guardian tries to renew its lease before it stops leading.',
  },
  guardianRetryMs: {
    title: 'control-plane retry period',
    flag: '--control-plane-retry-period',
    env: 'EIP_CONTROL_PLANE_RETRY_PERIOD',
    format: duration(100),
    default: '500ms',
    sentence: 'How often the leading guardian renews its lease.',
  },
  nodeName: {
    flag: '--node-name',
    env: 'NODE_NAME',
    format: objectName,
    unset: 'unknown',
    sentence:
      'Name of the node that the process runs on. A guardian on the holder lets another one lead, because it would fail together with what it guards.',
  },
} as const satisfies SettingsTable

/** How guardians probe the API servers and move the control-plane address. */
export const controlPlaneSettings = { ...probes, ...lease } as const satisfies SettingsTable

/**
 * The time for one write to the provider, and for the answer to a renewal. No write begins that could end after the
 * lease, so a shorter lease would permit none.
 */
const leastLeaseLeftMs = 2_200

/** Problems of the guardians' times together: two guardians could lead at once, or none could ever move the address. */
export function controlPlaneProblems(sources: Pick<Sources, 'flags' | 'env'>): Problem[] {
  const { values } = readSettings(lease, sources)
  if (!values) return []
  const { guardianLeaseMs: leaseMs, guardianRenewDeadlineMs: deadlineMs, guardianRetryMs: retryMs } = values
  const problems = electionTimeProblems(
    { row: lease.guardianLeaseMs, ms: leaseMs },
    { row: lease.guardianRenewDeadlineMs, ms: deadlineMs },
    { row: lease.guardianRetryMs, ms: retryMs },
  )
  if (leaseMs >= retryMs + leastLeaseLeftMs) return problems
  const tooShort = {
    setting: titleOf(lease.guardianLeaseMs),
    wrong: `${formatDuration(leaseMs)} leaves no time for a write to the provider between two renewals`,
    right: `it must be at least ${formatDuration(retryMs + leastLeaseLeftMs)}: the retry period and ${formatDuration(leastLeaseLeftMs)}`,
  }
  return [...problems, tooShort]
}
