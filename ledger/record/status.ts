import type { Condition } from '../../kube/objects.ts'
import {
  type ElasticIP,
  type ElasticIPStatus,
  type Phase,
  type HistoryStep,
  phaseOf,
  reservationIdOf,
} from './elastic-ip.ts'
import { currentRequestId } from '../../lib/request-id.ts'
import { transferAnnotation } from './names.ts'
import { defined } from '../../lib/json.ts'

type Removable = 'address' | 'reservationID' | 'requestInFlight' | 'message'

/** The fields of a status to change; null removes a field. No value that happens to be undefined can. */
export type StatusChange = Omit<ElasticIPStatus, Removable> & {
  [Field in Removable]?: ElasticIPStatus[Field] | null
}

/** Who writes, and when. */
export type Writer = { identity: string; now: () => Date }

type ConditionFacts = { status: Condition['status']; reason: string; message: string; now: Date }

/** A condition of a record; people read `message` beside it. */
export function condition(type: 'Accepted' | 'Reserved' | 'Assigned', facts: ConditionFacts): Condition {
  const { status, reason, message, now } = facts
  return { type, status, reason, message, lastTransitionTime: timeText(now) }
}

/** Whether a live Service holds the address. Written at every change of phase, so its time is the start of the phase. */
export function assigned(status: Condition['status'], facts: Omit<ConditionFacts, 'status'>): Condition {
  return condition('Assigned', { status, ...facts })
}

/** The status of a record after a change, with the conditions that derive from it. */
export function mergeStatus(record: ElasticIP, change: StatusChange, writer: Writer): ElasticIPStatus {
  const { status: before = {}, metadata } = record
  const observed = defined({ observedGeneration: metadata.generation })
  const steps = mergeConditions(before.conditions, change.conditions ?? [])
  const history = nextHistory(before, change, writer)
  const merged = withoutRemoved({ ...before, ...change, ...observed, ...(history && { history }), conditions: steps })
  const summary = summaryOf(merged).map((one) => ({ ...one, lastTransitionTime: timeText(writer.now()) }))
  const isStalled = summary.some(({ type }) => type === 'Stalled')
  const conditions = mergeConditions(steps, summary).filter(({ type }) => isStalled || type !== 'Stalled')
  return { ...merged, conditions: conditions.map((one) => ({ ...one, ...observed })) }
}

/** Merges conditions by type. An unchanged status keeps the time of its last transition. */
function mergeConditions(before: readonly Condition[] = [], changed: readonly Condition[]): Condition[] {
  const conditions = new Map(before.map((known) => [known.type, known]))
  for (const next of changed) {
    const known = conditions.get(next.type)
    const isSame = known?.status === next.status
    conditions.set(next.type, isSame ? { ...next, lastTransitionTime: known.lastTransitionTime } : next)
  }
  return [...conditions.values()]
}

function withoutRemoved(status: StatusChange): ElasticIPStatus {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== null))
}

/** A time in the format of the Kubernetes API, without fractions. */
function timeText(now: Date): string {
  return now.toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The CRD has the same limit. */
export const maxHistory = 10

const maxMessageLength = 300

/**
 * Appends a step to a record's history if its phase changes or the change has a new message. A repeated message is not
 * appended: a retry that fails again keeps the time of the first failure.
 */
export function nextHistory(
  before: ElasticIPStatus,
  change: Pick<StatusChange, 'phase' | 'message' | 'conditions'>,
  { identity, now }: Writer,
): HistoryStep[] | undefined {
  const { history = [] } = before
  const last = history.at(-1)
  const phase = change.phase ?? before.phase ?? 'Requested'
  const given = change.message ?? change.conditions?.[0]?.message
  const message = given === undefined ? undefined : given.slice(0, maxMessageLength)
  const isSamePhase = phase === (last?.phase ?? before.phase)
  if (isSamePhase && (message === undefined || message === last?.message)) return before.history
  const request = currentRequestId()
  const step = { time: now().toISOString(), phase, ...defined({ message }), writer: identity, ...defined({ request }) }
  return [...history, step].slice(-maxHistory)
}

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

/**
 * The conditions Ready and, if only a person can resolve it, Stalled. They derive from the rest of the status. Tools read
 * them of every object, by the conventions of the Kubernetes API. Pure.
 */
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

/**
 * Whether a controller must reconcile a record after a change. A failed request to the provider is no such change: its
 * sender retries after a back-off. Reconciling at once would send requests without end.
 */
export function isRelevantChange(current: ElasticIP | undefined, previous: ElasticIP | undefined): boolean {
  if (current && previous) return relevantFields(current) !== relevantFields(previous)
  return hasReservation(current ?? previous)
}

/** A record without a reservation is created for a request, and deleted if the provider refuses it. */
function hasReservation(record: ElasticIP | undefined): boolean {
  return record !== undefined && (phaseOf(record) !== 'Requested' || reservationIdOf(record) !== undefined)
}

function relevantFields({ metadata, spec, status = {} }: ElasticIP): string {
  const { phase = 'Requested', address, reservationID, deletionRequestedAt } = status
  return JSON.stringify([
    metadata.labels,
    metadata.annotations?.[transferAnnotation],
    metadata.deletionTimestamp,
    spec,
    phase,
    address,
    reservationID,
    deletionRequestedAt,
  ])
}
