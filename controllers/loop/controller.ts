import { type Clock, systemClock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import type { Key } from '../../kube/objects.ts'
import { queue } from '../../kube/queue.ts'
import { failureNews } from './failure-news.ts'
import { type Report, type Result, reconcileKey } from './reconcile-key.ts'
import type { Reconciler } from './reconciler.ts'
import { repeatedSteps } from './repeated-steps.ts'
import type { Watch } from './watch.ts'
import type { Activity } from '../../telemetry/activity.ts'
import type { Metrics } from '../../telemetry/metrics/metrics.ts'

/** The part of a controller that distinguishes it from others. */
export type ControllerDeclaration = {
  reconciler: Reconciler
  /** The sources of keys. They are subscribed to at once, but a controller that does not run drops their keys. */
  watches?: Watch[]
  /** Work at each start, before any key is reconciled. */
  prepare?: (signal: AbortSignal) => Promise<void>
  /** Caches that a reconcile relies on: no key is reconciled before all of them have synced. */
  needs?: { synced(signal?: AbortSignal): Promise<void> }[]
  /** Every existing key. Each start reconciles all of them. */
  keys: () => Iterable<Key>
  /** The resync period: how long after a reconcile the key is due again, unless the reconcile says otherwise. */
  resyncMs?: number
  /** How many keys are reconciled at the same time. */
  concurrency?: number
  /** The back-off after errors. */
  retry?: { firstMs?: number; maxMs?: number }
  /** After an error of the provider, no change of the object ends the back-off: each would cost another call. */
  holdsFailedCalls?: boolean
  /** Reports a failed reconcile to the owner of the object. */
  report?: Report
}

export type ControllerObserver = ReturnType<typeof controllerObserver>

/** Makes a controller of this declaration. It reconciles only while it runs. */
export function defineController(
  declaration: ControllerDeclaration,
  { log, observer, clock = systemClock }: { log: Log; observer: ControllerObserver; clock?: Clock },
) {
  const { reconciler, watches = [], concurrency = 1, retry = {} } = declaration
  const { name } = reconciler
  const observed = observer(name)
  const pending = queue({ concurrency, ...retry, clock, log, observer: observed })
  for (const subscribe of watches)
    subscribe((key, delayMs) => (delayMs > 0 ? pending.addAfter(key, delayMs) : pending.add(key)))
  return {
    name,
    /** How many keys wait for a reconcile; 0 while the controller does not run. */
    get queueLength() {
      return pending.length
    },
    /** Reconciles every key, then those that change, until the signal aborts and all work has ended. */
    run(signal: AbortSignal) {
      // The memory of an earlier term may not apply to the current objects.
      const memory = { repeats: repeatedSteps(clock), news: failureNews(clock) }
      const judged = reconcileKey({ ...declaration, ...memory, queue: pending, begun: () => observed.begun(), log })
      return pending.run(judged, signal, () => beginTerm(declaration, (key) => pending.add(key), signal))
    },
  }
}

async function beginTerm(
  { reconciler, prepare, needs = [], keys }: ControllerDeclaration,
  add: (key: Key) => void,
  signal: AbortSignal,
): Promise<void> {
  await prepare?.(signal)
  await Promise.all(needs.map((cache) => cache.synced(signal)))
  const existing = new Set<Key>()
  for (const key of keys()) {
    existing.add(key)
    add(key)
  }
  reconciler.keepOnly?.(existing)
}

/** The only key of periodic work, which covers everything at once. */
export const periodicKey = 'all'

type PeriodicWork = {
  name: string
  /** Does the work once; returns how soon it is due again, if not after the interval. */
  run: (signal: AbortSignal) => Promise<number | undefined>
  /** The interval between the end of a run and the next one. */
  everyMs: number
}

/** Declares a controller that works at an interval instead of per object. */
export function periodicWork({
  name,
  run,
  everyMs,
}: PeriodicWork): Pick<ControllerDeclaration, 'reconciler' | 'keys' | 'resyncMs'> {
  return {
    reconciler: {
      name,
      async reconcile(_key, signal) {
        const againInMs = await run(signal)
        return againInMs === undefined ? {} : { againInMs }
      },
    },
    keys: () => [periodicKey],
    resyncMs: everyMs,
  }
}

/** A part of the process that works until the signal aborts and all its work has ended. */
type Part = { run(signal: AbortSignal): Promise<void> }

/** Runs the parts until the signal aborts or one of them fails, and waits until each has ended its work. */
export async function runAll(parts: readonly Part[], signal: AbortSignal): Promise<void> {
  const failed = new AbortController()
  const until = AbortSignal.any([signal, failed.signal])
  const failures: unknown[] = []
  const run = async (part: Part) => {
    try {
      await part.run(until)
    } catch (error) {
      failures.push(error)
      failed.abort()
    }
  }
  // A part that only waits ends at once. But a lease must not end before the parts that still write under it.
  await Promise.all(parts.map(run))
  if (failures.length > 0) throw failures[0]
}

/** Counts the work of each controller, given by its name, like client-go's work queues. */
export function controllerObserver(metrics: Metrics, activity: Activity) {
  const running = new Map<string, Set<{ sinceMs: number }>>()
  const nowMs = () => performance.now()
  metrics.readEach('workqueue_unfinished_work_seconds', () =>
    [...running].map(([name, works]) => {
      const ms = [...works].reduce((sum, { sinceMs }) => sum + nowMs() - sinceMs, 0)
      return { labels: { name }, value: ms / 1000 }
    }),
  )
  return (name: string) => ({
    /** Notes that a reconcile begins; the returned function is called with its result. */
    begun() {
      const work = { sinceMs: nowMs() }
      const works = running.get(name) ?? new Set()
      running.set(name, works.add(work))
      return (result: Result) => {
        works.delete(work)
        const ms = nowMs() - work.sinceMs
        metrics.observe('eip_admission_reconcile_duration_seconds', { controller: name, result }, ms)
        metrics.observe('workqueue_work_duration_seconds', { name }, ms)
        activity.reconciled(name, result)
      }
    },
    added: () => metrics.add('workqueue_adds_total', { name }),
    retried: () => metrics.add('workqueue_retries_total', { name }),
    waited: (ms: number) => metrics.observe('workqueue_queue_duration_seconds', { name }, ms),
  })
}
