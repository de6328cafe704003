import PQueue from 'p-queue'

/** Moves go first: an address that points to a dead machine is an outage, everything else is a wait. */
const priorities = { move: 2, write: 1, read: 0 }

export type Lane = keyof typeof priorities

export type LaneOptions = {
  /** Calls in flight at most. */
  inFlight: number
  /** Calls begun in any such span of time at most, where the cloud counts them. */
  rate?: { calls: number; perMs: number } | undefined
}

/**
 * Runs work when its turn comes; when the signal aborts before that, rejects at once with what `left` makes of the reason.
 * Work that calls the cloud once more waits for `pace` first, which rejects with the reason when its signal aborts.
 */
export type ScheduleCall = <T>(
  lane: Lane,
  work: (pace: Pace) => Promise<T>,
  wait: { signal: AbortSignal; abortError: (reason: unknown) => Error },
) => Promise<T>

/** Waits until the cloud may be called again. */
export type Pace = (signal: AbortSignal) => Promise<void>

/** A queue that bounds how hard one cloud is used, and keeps a place free of reads: slow lists never hold up a reservation. */
export function makeScheduler({ inFlight, rate }: LaneOptions): ScheduleCall {
  const all = new PQueue({ concurrency: inFlight })
  const starts = rate && new PQueue({ intervalCap: rate.calls, interval: rate.perMs, strict: true })
  const reads = new PQueue({ concurrency: Math.max(1, inFlight - 1) })

  return async (lane, work, { signal, abortError }) => {
    // The queue hears the signal only while we wait in it: once work has begun, work alone knows what an abort means.
    const waiting = new AbortController()
    const leave = () => waiting.abort(abortError(signal.reason))
    const stay = () => signal.removeEventListener('abort', leave)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })

    const pace: Pace = async (ends) => starts?.add(async () => {}, { priority: priorities[lane], signal: ends })
    const begin = async () => {
      await pace(waiting.signal)
      stay()
      return work(pace)
    }
    const turn = () => all.add(begin, { priority: priorities[lane], signal: waiting.signal })
    try {
      return await (lane === 'read' ? reads.add(turn, { signal: waiting.signal }) : turn())
    } finally {
      stay()
    }
  }
}
