// The conditions Ready and Stalled, which tools read of every object by the conventions of the Kubernetes API.
import type { Condition } from '../../kube/objects.ts'
import type { ElasticIP, ElasticIPStatus, Phase } from './elastic-ip.ts'

type Summary = Pick<Condition, 'status' | 'reason' | 'message'> & { type: 'Ready' | 'Stalled' }

const phases: Record<Phase, { isReady: boolean; text: string }> = {
  Requested: { isReady: false, text: 'the provider has not granted the address yet' },
  Reserved: { isReady: false, text: 'no stored Service holds the address yet' },
  Bound: { isReady: true, text: 'a Service holds the address' },
  Releasing: { isReady: false, text: 'the reservation is about to be deleted' },
  Released: { isReady: true, text: 'the address is retained for the next Service of the name' },
  Available: { isReady: true, text: 'a Service can claim the address' },
}

/** The reasons for a record without an address that no retry clears. */
const lasting = new Set(['AuthFailed', 'QuotaUsedUp', 'Invalid', 'Refused', 'NotProvisioned', 'Lost', 'Unusable'])

/** The conditions Ready and, if only a person can resolve it, Stalled. They derive from the rest of the status. Pure. */
export function summaryOf({ phase = 'Requested', message, conditions }: ElasticIPStatus): Summary[] {
  const { isReady, text } = phases[phase]
  const reason = phase === 'Requested' ? (obstacleOf(conditions) ?? phase) : phase
  const facts = { reason, message: message ?? text }
  const ready = { type: 'Ready', status: isReady ? 'True' : 'False', ...facts } as const
  return lasting.has(reason) ? [ready, { type: 'Stalled', status: 'True', ...facts }] : [ready]
}

/** The reason of the provider's last refusal. */
function obstacleOf(conditions: readonly Condition[] = []): string | undefined {
  const unmet = (type: string) => conditions.find((one) => one.type === type && one.status !== 'True')?.reason
  return unmet('Accepted') ?? unmet('Reserved')
}

/**
 * Whether the status of a record at rest reflects an earlier spec. While an address is requested or released, the next
 * step writes the status.
 */
export function isUnobserved({ metadata, status }: ElasticIP): boolean {
  const { generation, deletionTimestamp } = metadata
  const isAtRest = status?.phase !== undefined && status.phase !== 'Requested' && status.phase !== 'Releasing'
  return isAtRest && deletionTimestamp === undefined && generation !== status.observedGeneration
}
