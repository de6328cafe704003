import { currentRequestId, requestIdAnnotation } from '../../lib/request-id.ts'
import type { ElasticIP, ElasticIPStatus, HistoryStep } from './elastic-ip.ts'

/** The CRD has the same limit. */
export const maxHistory = 10

const maxMessageLength = 300

/** Who writes, and when. */
export type Writer = { identity: string; now: () => Date }

/**
 * The history of a record with one step more, if its phase changes or the change says why. A step that says the same as the
 * last one is not repeated: a retry that fails as before leaves the time when that began.
 */
export function nextHistory(
  before: ElasticIPStatus,
  change: { phase?: string | undefined; message?: string | undefined; conditions?: { message: string }[] | undefined },
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
  const step = {
    time: now().toISOString(),
    phase,
    ...(message === undefined ? {} : { message }),
    writer: identity,
    ...(request === undefined ? {} : { request }),
  }
  return [...history, step].slice(-maxHistory)
}

/** The request that a record was last written for. */
export function requestOfRecord({ metadata, status }: ElasticIP): string | undefined {
  return (
    status?.history?.findLast(({ request }) => request !== undefined)?.request ??
    metadata.annotations?.[requestIdAnnotation]
  )
}
