import { shortMemory } from '../../lib/short-memory.ts'
import { type ElasticIP, isUnwritten } from './elastic-ip.ts'
import { requestedByAnnotation } from './names.ts'
import type { Fault } from '../../clouds/ports/cloud.ts'
import type { Condition } from '../../kube/objects.ts'
import { condition } from './status.ts'

export type RequestsInFlight = {
  /** Whether a request to the provider for this record may still be in flight, whichever process sent it. */
  isInFlight(record: ElasticIP): boolean
  /**
   * Creates a record for a request of this process. The request counts as sent until the create is answered, and
   * afterwards if it succeeds. If the create fails, this process sends no request, though the record may be stored.
   */
  createRecord(name: string, create: () => Promise<ElasticIP>): Promise<ElasticIP>
}

type Options = { timeoutMs: number; monotonicMs: () => number; identity: string }

/** A request that is forgotten and seen again waits once more, so it is remembered for much longer than any lasts. */
const seenMs = 3_600_000

/**
 * Judges requests like a lease: by our own monotonic clock since we first saw the request, because no other clock can
 * be trusted. `timeoutMs` exceeds the longest call; before it ends, a second call could buy a second address.
 */
export function requestsInFlight(of: Options): RequestsInFlight {
  const own = ownCreates(of)
  const seen = shortMemory<string, { request: string; atMs: number }>({ ...of, keptMs: seenMs })
  return {
    isInFlight(record) {
      const { name } = record.metadata
      const request = requestIdOf(record)
      if (!isUnwritten(record)) own.forget(record)
      if (request === undefined || own.isUnsent(record)) {
        seen.delete(name)
        return false
      }
      const before = seen.get(name)
      const known = before?.request === request ? before : { request, atMs: of.monotonicMs() }
      // Every look keeps it in memory.
      seen.set(name, known)
      return of.monotonicMs() - known.atMs < of.timeoutMs
    },
    createRecord: (name, create) => own.createRecord(name, create),
  }
}

/** The records that this process is creating, or has created and may have sent a request for. */
function ownCreates({ identity, timeoutMs, monotonicMs }: Options) {
  const pending = new Map<string, number>()
  // A replica that does not lead never learns a record's fate, but all our calls have ended after this time.
  const created = shortMemory<string | undefined, true>({ keptMs: timeoutMs, monotonicMs })
  const count = (name: string, change: number) => {
    const now = (pending.get(name) ?? 0) + change
    if (now > 0) pending.set(name, now)
    else pending.delete(name)
  }
  return {
    /** From its first status on, a record says itself who has a request in flight. */
    forget: ({ metadata }: ElasticIP) => created.delete(metadata.uid),
    isUnsent: (record: ElasticIP) => {
      const { annotations, name, uid } = record.metadata
      const isOwn = annotations?.[requestedByAnnotation] === identity
      return isOwn && isUnwritten(record) && !pending.has(name) && !created.has(uid)
    },
    async createRecord(name: string, create: () => Promise<ElasticIP>): Promise<ElasticIP> {
      count(name, 1)
      try {
        const record = await create()
        created.set(record.metadata.uid, true)
        return record
      } finally {
        count(name, -1)
      }
    },
  }
}

/** Identifies a request to the provider; undefined if the record waits for no answer. */
export function requestIdOf(record: ElasticIP): string | undefined {
  const { metadata, status } = record
  const created = { sender: metadata.annotations?.[requestedByAnnotation], sentAt: metadata.creationTimestamp }
  const { sender, sentAt } = (isUnwritten(record) ? created : status?.requestInFlight) ?? {}
  return sender === undefined ? undefined : `${metadata.uid} ${sender} ${sentAt}`
}

/** A one-word reason for each fault of a provider call, and for every other refusal. */
const reasons = {
  auth: 'AuthFailed',
  quota: 'QuotaUsedUp',
  'rate-limit': 'RateLimited',
  conflict: 'Conflict',
  invalid: 'Invalid',
  unavailable: 'Unavailable',
  refused: 'Refused',
} satisfies Record<Fault | 'refused', string>

type Facts = { message: string; now: Date; status?: 'False' | 'Unknown' }

/** The condition that no request for the address is known to be accepted; its reason names the fault. */
export function notRequested(fault: keyof typeof reasons, { status = 'False', ...facts }: Facts): Condition {
  return condition('Accepted', { status, reason: reasons[fault], ...facts })
}

/** Whether the answer to the last request for the address was lost, so that the provider may still execute it. */
export function isAnswerLost({ status }: ElasticIP): boolean {
  return status?.conditions?.find(({ type }) => type === 'Accepted')?.status === 'Unknown'
}

/** Whether the provider refused the last request because the project's quota is used up. */
export function isOverQuota({ status }: ElasticIP): boolean {
  const request = status?.conditions?.find(({ type }) => type === 'Accepted')
  return status?.address === undefined && request?.reason === reasons.quota
}
