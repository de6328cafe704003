import { CloudError } from '../../clouds/ports/cloud.ts'
import { KubeError, askedWaitMs, isConflict } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import type { Key, KubeObject } from '../../kube/objects.ts'
import type { Process, Queue } from '../../kube/queue.ts'
import { forRequest } from '../../lib/request-id.ts'
import type { FailureNews } from './failure-news.ts'
import { type Outcome, type Reconciler, Terminal, Unsettled } from './reconciler.ts'
import type { RepeatedSteps } from './repeated-steps.ts'
import { AddressInUse } from '../../ledger/record/address-use.ts'
import type { Recorder } from '../../telemetry/event-recorders.ts'
import type { EventReason } from '../../telemetry/events/catalogue.ts'

/** The result of a reconcile, as named in the metric. */
export type Result = 'ok' | 'conflict' | 'terminal' | 'unsettled' | 'error' | 'aborted'

/** Reports a failure to the owner of an object; `message` contains every reason of the error. */
export type Report = (key: Key, message: string, error: unknown) => void

export type ReconcileOptions = {
  reconciler: Reconciler
  queue: Pick<Queue, 'add' | 'addAfter' | 'failed' | 'forget' | 'hold'>
  repeats: RepeatedSteps
  /** Decides which failures are logged. */
  news: FailureNews
  log: Log
  begun: () => (result: Result) => void
  resyncMs?: number | undefined
  holdsFailedCalls?: boolean | undefined
  report?: Report | undefined
}

/** The longest wait of an object that another program rewrites, even for changes outside the dispute. */
const maxHoldMs = 30_000

/** A provider that asks for a longer wait does not know that users change their objects. */
const maxAskedMs = 10 * 60_000

/** Reconciles a key and decides when it is due again, which no other code does. */
export function reconcileKey(options: ReconcileOptions): Process {
  return async (key, signal) => {
    const ended = options.begun()
    const request = options.reconciler.requestOf?.(key)
    const result = await forRequest(request, () => tryToReconcile(options, key, signal))
    ended(result)
  }
}

async function tryToReconcile(options: ReconcileOptions, key: Key, signal: AbortSignal): Promise<Result> {
  try {
    succeed(options, key, await options.reconciler.reconcile(key, signal))
    return 'ok'
  } catch (error) {
    return signal.aborted ? 'aborted' : fail(options, key, error)
  }
}

function succeed({ queue, resyncMs, repeats, news }: ReconcileOptions, key: Key, outcome: Outcome): void {
  const { againInMs = resyncMs, isHeld, steps = [] } = outcome
  // This also holds in a dispute: a withdrawal must be checked again, although no program writes now.
  if (againInMs !== undefined) queue.addAfter(key, againInMs)
  if (againInMs !== undefined && isHeld) queue.hold(key, againInMs)
  const repeated = repeats.after(key, steps)
  if (repeated !== undefined) throw new Unsettled(`the step ${repeated} keeps repeating`)
  // Between two repetitions, a contested key may look settled for a moment.
  if (repeats.isContested(key)) return
  queue.forget(key)
  news.succeeded(key)
}

function fail(options: ReconcileOptions, key: Key, error: unknown): Result {
  const { reconciler, queue, report, news, log } = options
  if (isOnlyConflict(error)) {
    queue.failed(key)
    return 'conflict'
  }
  const message = errorText(error)
  report?.(key, message, error)
  if (error instanceof Terminal) {
    queue.forget(key)
    log.warn({ controller: reconciler.name, key, error: message }, 'not retried until it changes')
    return 'terminal'
  }
  const retryAfterMs = retryAfter(error)
  const againInMs = Math.round(retryAfterMs ?? queue.failed(key))
  if (retryAfterMs !== undefined) {
    // Until then, each event of the object would cause another failure.
    queue.hold(key, retryAfterMs)
    queue.addAfter(key, retryAfterMs)
  } else if (options.holdsFailedCalls && isOfCloud(error)) queue.hold(key, againInMs)
  const isUnsettled = error instanceof Unsettled
  // Each write of the other program is an event that would add the key at once.
  if (isUnsettled) queue.hold(key, Math.min(againInMs, maxHoldMs))
  const text = isUnsettled ? 'does not settle' : 'reconcile failed'
  const failing = isUnsettled ? { failures: 1, keys: 1 } : news.failed(key, message)
  const fields = {
    controller: reconciler.name,
    key,
    ...(failing && failing.keys > 1 && failing),
    againInMs,
    error: message,
  }
  log[failing ? 'warn' : 'debug'](fields, text)
  return isUnsettled ? 'unsettled' : 'error'
}

/** Whether another program wrote in between. That is normal, and the next look sees its write. */
function isOnlyConflict(error: unknown): boolean {
  return error instanceof AggregateError ? error.errors.every(isOnlyConflict) : isConflict(error)
}

function isOfCloud(error: unknown): boolean {
  return error instanceof AggregateError ? error.errors.some(isOfCloud) : error instanceof CloudError
}

/** How long the provider or the API server asks us to wait; the longest of several waits. */
function retryAfter(error: unknown): number | undefined {
  if (error instanceof AggregateError) {
    const waits = error.errors.map(retryAfter).filter((ms) => ms !== undefined)
    return waits.length === 0 ? undefined : Math.max(...waits)
  }
  if (error instanceof KubeError) return askedWaitMs(error)
  const ms = error instanceof Error && 'retryAfterMs' in error ? error.retryAfterMs : undefined
  return typeof ms === 'number' ? Math.min(ms, maxAskedMs) : undefined
}

/** The message of an error. For an AggregateError it contains every reason. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!(error instanceof AggregateError)) return error.message
  const reasons = [...new Set(error.errors.map(errorText))].join('; ')
  return error.message === '' ? reasons : `${error.message}: ${reasons}`
}

type FailureEventOptions = {
  events: Recorder
  /** The object of a key; undefined if it no longer exists. */
  find: (key: Key) => KubeObject | undefined
  reason: EventReason
  /** A prefix of the message. */
  prefix?: string
}

/** Reports every failed reconcile as a warning Event on its object, and on the Services that use its address. */
export function failureEvent({ events, find, reason, prefix = '' }: FailureEventOptions): Report {
  return (key, message, error) => {
    const object = find(key)
    if (object) events.record(object, { type: 'Warning', reason, message: `${prefix}${message}` })
    // The Services that block the release of an address get the Event, too.
    for (const { service } of error instanceof AddressInUse ? error.users : []) {
      if (service) events.record(service, { type: 'Warning', reason: 'AddressInUse', message })
    }
  }
}
