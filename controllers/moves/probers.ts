import type { Clock } from '../../kube/clock.ts'
import type { Endpoint, Probe } from '../../kube/probe.ts'
import { addOutcome, noProbes, type ProbeHistory } from './probe-history.ts'

/** Probes several API servers all the time, each on its own. */
export type Probers = {
  /** Probes these from now on: names and where they listen. The results of missing ones are forgotten. */
  target(endpoints: ReadonlyMap<string, Endpoint>): void
  /** The results of the probes of one target. */
  history(name: string): ProbeHistory
  /** Forgets what the probes of one showed, and those in flight. */
  forget(name: string): void
  /** Ends every probe. */
  stop(): void
}

export type ProbersOptions = {
  probe: Probe
  intervalMs: number
  /** Good answers in a row that make a server good. Until it was good once, each good answer is followed by the next probe soon. */
  goodAfter: number
  timeoutMs: number
  clock: Clock
  /** Called after each probe, with how many failed in a row. */
  onOutcome: (name: string, outcome: { isWell: boolean; failures: number; ms: number; reason?: string }) => void
}

type Prober = {
  endpoint: Endpoint
  history: ProbeHistory
  ends: AbortController
  wasGood: boolean
  startedAtMs: number | undefined
}

/** A guardian that has just started can move the address only to a server that it knows as good. */
const firstPace = 4
/** After so many intervals a probe is late. */
const lateAfter = 1.5

/** Probers of these settings. A probe begins in each interval, whether or not the one before has ended. */
export function probers(options: ProbersOptions): Probers {
  const running = new Map<string, Prober>()
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
    target(endpoints) {
      for (const name of running.keys()) if (!endpoints.has(name)) stop(name)
      for (const [name, endpoint] of endpoints) {
        const now = running.get(name)?.endpoint
        if (now?.address === endpoint.address && now.port === endpoint.port) continue
        stop(name)
        start(name, endpoint)
      }
    },
    history: (name) => running.get(name)?.history ?? noProbes,
    forget(name) {
      const endpoint = running.get(name)?.endpoint
      stop(name)
      if (endpoint) start(name, endpoint)
    },
    stop() {
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

/** Returns how soon the next probe is due if it is due before the interval ends. */
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
  // A server that refuses is asked again sooner: an outage costs its users every second.
  return result.isDefinite ? intervalMs / 2 : undefined
}
