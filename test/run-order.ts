// Decides which run starts next, and which of the concurrent ones gets the processors first.
import secondsFile from './seconds.json' with { type: 'json' }
import { type Run, titleOf, usesApiServer } from './selection.ts'

/** The durations of the long runs, as `node test/run.ts --write-seconds` last measured them. */
export const knownSeconds: Record<string, number> = secondsFile

/** Files in which the product must act within seconds of real time: leases, probes, time-outs of users. */
export const timelyParts = [
  'rig/control-planes/',
  'rig/high-availability',
  'rig/bootstrap',
  'matrix/cloud-trouble',
  'matrix/control-plane',
  'whole/alerts/guardians',
  'whole/hanging',
  'whole/rolling',
]

/** Whether a run fails if its processes must wait for the processors. */
function isTimely({ file }: Run): boolean {
  return timelyParts.some((part) => file.includes(part))
}

/** An addition to the nice value of its processes: API servers of other runs may wait. */
export function niceOf(run: Run): number {
  return usesApiServer(run) && !isTimely(run) ? 5 : 0
}

/** The runs in the order in which they start: the longest first, so that none of them runs alone at the end. */
export function longestFirst(runs: Run[]): Run[] {
  return runs.toSorted((one, other) => secondsOf(other) - secondsOf(one) || titleOf(other).localeCompare(titleOf(one)))
}

export type RunQueue = {
  /** The run that starts now; undefined when none is left. */
  next: () => Run | undefined
  /** The shortest run without an API server, for the worker that runs while the others wait. */
  nextFiller: () => Run | undefined
  done: (run: Run) => void
}

/** Hands out the runs in their order, but at most `maxTimely` timely ones at a time while there are others. */
export function runQueue(runs: Run[], maxTimely: number): RunQueue {
  const waiting = [...runs]
  const timelyNow = new Set<Run>()
  return {
    next() {
      const isFull = timelyNow.size >= maxTimely
      const at = isFull ? waiting.findIndex((run) => !isTimely(run)) : 0
      const [run] = waiting.splice(Math.max(0, at), 1)
      if (run && isTimely(run)) timelyNow.add(run)
      return run
    },
    nextFiller() {
      const at = waiting.findLastIndex((run) => !usesApiServer(run))
      return at < 0 ? undefined : waiting.splice(at, 1)[0]
    },
    done: (run) => void timelyNow.delete(run),
  }
}

/** Estimates a file that is not in the table: an API server takes a while, and waits for leases take longer. */
function secondsOf(run: Run): number {
  const usual = isTimely(run) ? 100 : 30
  return knownSeconds[titleOf(run)] ?? (usesApiServer(run) ? usual : 1)
}
