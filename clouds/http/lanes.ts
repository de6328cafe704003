import PQueue from 'p-queue'
import { boundToRequest } from '../../lib/request-id.ts'
import { movePriority, type Throttle } from './throttle.ts'

/** Moves go first, and wait for no other call: while an address points to a dead machine, there is an outage. */
const priorities = { move: movePriority, write: 1, reserve: 1, read: 0 }

export type Lane = keyof typeof priorities

export type LaneOptions = {
  /** The maximum of calls in flight, not counting moves. */
  inFlight: number
  /** The maximum of calls that begin within any such period, if the provider has a rate limit. */
  rate?: { calls: number; perMs: number } | undefined
  /** An additional wait before each call. */
  throttle?: Pick<Throttle, 'turn'>
}

/**
 * Runs work as soon as the limits permit. If the signal aborts before, it rejects at once with the `abortError`. Before
 * each further call, the work must await `pace`, which rejects with its signal's reason.
 */
export type ScheduleCall = <T>(
  lane: Lane,
  work: (pace: Pace) => Promise<T>,
  wait: { signal: AbortSignal; abortError: (reason: unknown) => Error },
) => Promise<T>

/** Waits until the rate limit permits another call. */
export type Pace = (signal: AbortSignal) => Promise<void>

/**
 * A queue that limits the load on one provider. Reads leave at least one of its places free, and so do reserves. So
 * slow lists alone never delay a reservation, and hanging reserves alone never delay a deletion.
 */
export function makeScheduler({ inFlight, rate, throttle }: LaneOptions): ScheduleCall {
  const all = new PQueue({ concurrency: inFlight })
  const starts = rate && new PQueue({ intervalCap: rate.calls, interval: rate.perMs, strict: true })
  const limited = () => new PQueue({ concurrency: Math.max(1, inFlight - 1) })
  const queues: { [lane in Lane]?: PQueue } = { read: limited(), reserve: limited() }

  return async (lane, work, { signal, abortError }) => {
    // The queue follows the signal only while the call waits: after the start, only the work knows what an abort means.
    const waiting = new AbortController()
    const leave = () => waiting.abort(abortError(signal.reason))
    const stay = () => signal.removeEventListener('abort', leave)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })

    const priority = priorities[lane]
    const pace: Pace = async (ends) => {
      await starts?.add(async () => {}, { priority, signal: ends })
      await throttle?.turn(priority, ends)
    }
    // The queue starts work in the context of whatever ended before, not of this call's request.
    const begin = boundToRequest(async () => {
      await pace(waiting.signal)
      waiting.signal.throwIfAborted()
      stay()
      return work(pace)
    })
    const turn = () => all.add(begin, { priority, signal: waiting.signal })
    try {
      if (lane === 'move') return await begin()
      return await (queues[lane]?.add(turn, { signal: waiting.signal }) ?? turn())
    } finally {
      stay()
    }
  }
}
