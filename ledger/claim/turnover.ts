// How many new addresses a namespace gets within an hour. The limits count addresses at one time, but a provider bills
// each order. Without this, a loop that creates and deletes a Service would cost money without end. And a loop of
// refused orders would use up the provider's rate limit, which all namespaces share.
import { type ElasticIP, provisionedSourceOf } from '../record/elastic-ip.ts'

export type Turnover = {
  /** Why the namespace of a record gets no new address now; undefined if it may have one. */
  reason(record: ElasticIP): string | undefined
  /** Counts the new address of a record, once for all its requests; or returns why there will be none. */
  countOrder(record: ElasticIP): string | undefined
  /** The provider certainly reserved nothing for the record. */
  giveBack(record: ElasticIP): void
  /** The provider refused the order of the record, and would refuse it again. */
  noteRefusal(record: ElasticIP): void
}

/** A namespace that is filled to its limit, emptied and filled again stays below this. A loop exceeds it within minutes. */
const timesTheLimit = 3

const hourMs = 3_600_000

/** More refused orders than a person, or all backed-off Services of a namespace, send within this time. */
const [mostRefusals, refusalsMs] = [30, 300_000]

/**
 * Counts in the memory of one process: each replica has its own count, and a restart begins at zero. That suffices to
 * stop a loop, and costs a claim no further write.
 */
export function turnover({ limit = Infinity, now }: { limit?: number | undefined; now: () => Date }): Turnover {
  const most = limit * timesTheLimit
  const refusals = recentRefusals(now)
  let recent: { namespace: string; uid: string | undefined; atMs: number }[] = []
  const reason = (record: ElasticIP) => {
    const vain = refusals.reason(billedNamespace(record))
    if (vain !== undefined) return vain
    const nowMs = now().getTime()
    // Entries in the future were counted before the clock was set back.
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
    countOrder(record) {
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
    noteRefusal: (record) => refusals.note(billedNamespace(record)),
  }
}

/** The recently refused orders of each namespace. */
function recentRefusals(now: () => Date) {
  let recent: { namespace: string; atMs: number }[] = []
  const isRecent = ({ atMs }: { atMs: number }) => {
    const ageMs = now().getTime() - atMs
    return ageMs >= 0 && ageMs < refusalsMs
  }
  return {
    note(namespace: string | undefined) {
      recent = recent.filter(isRecent)
      if (namespace !== undefined) recent.push({ namespace, atMs: now().getTime() })
    },
    reason(namespace: string | undefined): string | undefined {
      const own = recent.filter((one) => one.namespace === namespace && isRecent(one))
      const [oldest] = own.slice(-mostRefusals)
      if (!oldest || own.length < mostRefusals) return undefined
      const next = new Date(oldest.atMs + refusalsMs).toISOString()
      return `the provider refused ${mostRefusals} orders of namespace ${namespace} within five minutes; the next one is sent after ${next}`
    },
  }
}

/** The namespace whose Service causes an order; a provisioned address was ordered before, and stays. */
function billedNamespace(record: ElasticIP): string | undefined {
  return provisionedSourceOf(record) === undefined ? record.spec.claimRef?.namespace : undefined
}
