import type { Clock } from '../../kube/clock.ts'
import type { Endpoint, Probe } from '../../kube/probe.ts'
import { addOutcome, noProbes, type ProbeHistory } from './probe-history.ts'

export type ProbersOptions = {
  probe: Probe
  intervalMs: number
  /** How many consecutive good answers make a server good. Until then, the next probe follows each good answer sooner. */
  goodAfter: number
  timeoutMs: number
  clock: Clock
  /** Called after each probe, with the number of consecutive failures. */
  onOutcome: (name: string, outcome: { isWell: boolean; failures: number; ms: number; reason?: string }) => void
}

type Prober = {
  endpoint: Endpoint
  history: ProbeHistory
  ends: AbortController
  wasGood: boolean
  startedAtMs: number | undefined
}

/** A new guardian can move the address only to a server that it knows to be good. */
const firstPace = 4
/** After this many intervals, a probe is late. */
const lateAfter = 1.5

/**
 * Probes several servers continuously and independently: none at first. A probe begins in each interval, even if the
 * previous one has not ended.
 */
export function probers(options: ProbersOptions) {
  const running = new Map<string, Prober>()
  let isOver = false
  const start = (name: string, endpoint: Endpoint) => {
    const prober = { endpoint, history: noProbes, ends: new AbortController(), wasGood: false, startedAtMs: undefined }
    running.set(name, prober)
    void probeRepeatedly(name, prober, options)
  }
  const stop = (name: string) => {
    running.get(name)?.ends.abort()
    running.delete(name)
  }

  return {
    /** Probes these from now on, given by name and endpoint. The results of missing ones are forgotten. */
    target(endpoints: ReadonlyMap<string, Endpoint>) {
      if (isOver) return
      for (const name of running.keys()) if (!endpoints.has(name)) stop(name)
      for (const [name, endpoint] of endpoints) {
        const now = running.get(name)?.endpoint
        if (now?.address === endpoint.address && now.port === endpoint.port) continue
        stop(name)
        start(name, endpoint)
      }
    },
    /** The results of the probes of one target. */
    history: (name: string) => running.get(name)?.history ?? noProbes,
    /** Forgets the results of a target's probes, and those in flight. */
    forget(name: string) {
      const endpoint = running.get(name)?.endpoint
      stop(name)
      if (endpoint) start(name, endpoint)
    },
    /** Ends every probe for good: while a process stops, nodes still change. */
    stop() {
      isOver = true
      for (const name of running.keys()) stop(name)
    },
  }
}

async function probeRepeatedly(name: string, prober: Prober, options: ProbersOptions): Promise<void> {
  const { intervalMs, timeoutMs, clock } = options
  const { signal } = prober.ends
  const maxInFlight = Math.ceil(timeoutMs / intervalMs) + 1
  let inFlight = 0
  const probeOnce = async (wake: AbortController) => {
    inFlight += 1
    const pauseMs = await probeAndRecord(name, prober, options)
    inFlight -= 1
    if (pauseMs === undefined) return
    await clock.sleep(pauseMs, signal)
    wake.abort()
  }
  while (!signal.aborted) {
    const wake = new AbortController()
    const end = () => wake.abort()
    signal.addEventListener('abort', end, { once: true })
    if (inFlight < maxInFlight) void probeOnce(wake)
    await clock.sleep(intervalMs, wake.signal)
    signal.removeEventListener('abort', end)
  }
}

/** Returns how soon the next probe is due, if before the end of the interval. */
async function probeAndRecord(name: string, prober: Prober, options: ProbersOptions): Promise<number | undefined> {
  const { probe, clock, onOutcome, goodAfter, intervalMs } = options
  const { signal } = prober.ends
  const startedAtMs = clock.now()
  const isLate = startedAtMs - (prober.startedAtMs ?? startedAtMs) > lateAfter * intervalMs
  prober.startedAtMs = startedAtMs
  const result = await probe(prober.endpoint, signal)
  if (signal.aborted) return undefined
  const endedAtMs = clock.now()
  const { isWell } = result
  const reason = result.isWell ? {} : { reason: result.reason }
  prober.history = addOutcome(prober.history, { startedAtMs, endedAtMs, isWell, isLate, ...reason })
  onOutcome(name, { isWell, failures: prober.history.failures, ms: endedAtMs - startedAtMs, ...reason })
  prober.wasGood ||= prober.history.successes >= goodAfter
  if (result.isWell) return prober.wasGood ? undefined : intervalMs / firstPace
  // A server that refuses is asked again sooner, because every second of an outage costs its users.
  return result.isDefinite ? intervalMs / 2 : undefined
}
