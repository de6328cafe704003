// How many new addresses a namespace gets within an hour. The limits count addresses at one time, and a cloud bills each
// order. Without this a loop that creates a Service and deletes it would cost without end.
import { type ElasticIP, provisionedSourceOf } from '../record/elastic-ip.ts'

export type Turnover = {
  /** Why the namespace of a record gets no new address now; undefined if it may. */
  reason(record: ElasticIP): string | undefined
  /** Counts the new address of a record, once however often that is requested; or returns why there will be none. */
  take(record: ElasticIP): string | undefined
  /** The cloud certainly reserved nothing for the record. */
  giveBack(record: ElasticIP): void
}

/** A namespace that is filled to its limit, emptied and filled again does not meet it. A loop does within minutes. */
const timesTheLimit = 3

const hourMs = 3_600_000

/**
 * Counts in the memory of one process: each replica counts its own, and a restart begins anew. To end a loop that is
 * exact enough, and a claim waits for no further write.
 */
export function turnover({ limit, now }: { limit: number | undefined; now: () => Date }): Turnover {
  if (limit === undefined) return { reason: () => undefined, take: () => undefined, giveBack: () => {} }
  const most = limit * timesTheLimit
  let recent: { namespace: string; uid: string | undefined; atMs: number }[] = []
  const reason = (record: ElasticIP) => {
    const nowMs = now().getTime()
    // What lies in the future was counted before the clock was set back.
    recent = recent.filter(({ atMs }) => atMs <= nowMs && atMs > nowMs - hourMs)
    const own = recent.filter(({ namespace }) => namespace === billedNamespace(record))
    const [oldest] = own
    if (!oldest || own.length < most || own.some(({ uid }) => uid === record.metadata.uid)) return undefined
    const next = new Date(oldest.atMs + hourMs).toISOString()
    return (
      `namespace ${oldest.namespace} got ${own.length} new addresses within an hour, ` +
      `${timesTheLimit} times --max-addresses-per-namespace; it gets the next one after ${next}`
    )
  }
  return {
    reason,
    take(record) {
      const refusal = reason(record)
      const { uid } = record.metadata
      const namespace = billedNamespace(record)
      const isCounted = recent.some((one) => one.uid === uid)
      if (refusal !== undefined || namespace === undefined || isCounted) return refusal
      recent.push({ namespace, uid, atMs: now().getTime() })
      return undefined
    },
    giveBack({ metadata }) {
      recent = recent.filter(({ uid }) => uid !== metadata.uid)
    },
  }
}

/** The namespace whose Service makes us order an address; a provisioned one is ordered already, and stays. */
function billedNamespace(record: ElasticIP): string | undefined {
  return provisionedSourceOf(record) === undefined ? record.spec.claimRef?.namespace : undefined
}
