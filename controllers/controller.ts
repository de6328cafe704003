import { isConflict } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import type { Key } from '../kube/objects.ts'
import type { Queue } from '../kube/queue.ts'
import { type Reconciler, Terminal } from './reconciler.ts'

export type ControllerOptions = {
  reconciler: Reconciler
  queue: Queue
  log: Log
  /** Tells the person whose object it is what went wrong with it. */
  complain?: (key: Key, message: string) => void
  /** Told of every look, for metrics. */
  observe?: (controller: string, result: string, ms: number) => void
}

/** Runs a reconciler on the keys of its queue until the signal aborts. Here alone it is judged when to look again. */
export function runController(options: ControllerOptions, signal: AbortSignal): Promise<void> {
  const { reconciler, queue, observe } = options
  return queue.run(async (key, aborted) => {
    const started = performance.now()
    const result = await look(options, key, aborted)
    observe?.(reconciler.name, result, performance.now() - started)
  }, signal)
}

async function look({ reconciler, queue, ...tell }: ControllerOptions, key: Key, signal: AbortSignal): Promise<string> {
  try {
    const { againInMs } = await reconciler.reconcile(key, signal)
    queue.forget(key)
    if (againInMs !== undefined) queue.addAfter(key, againInMs)
    return 'ok'
  } catch (error) {
    if (signal.aborted) return 'aborted'
    if (isConflict(error)) {
      queue.failed(key)
      return 'conflict'
    }
    const message = error instanceof Error ? error.message : String(error)
    tell.complain?.(key, message)
    if (error instanceof Terminal) {
      queue.forget(key)
      tell.log.warn({ controller: reconciler.name, key, error: message }, 'nothing to do until it changes')
      return 'terminal'
    }
    const retryAfterMs = retryAfter(error)
    const againInMs = retryAfterMs ?? queue.failed(key)
    if (retryAfterMs !== undefined) queue.addAfter(key, retryAfterMs)
    tell.log.warn(
      { controller: reconciler.name, key, againInMs: Math.round(againInMs), error: message },
      'not settled yet',
    )
    return 'error'
  }
}

function retryAfter(error: unknown): number | undefined {
  const told = error instanceof Error && 'retryAfterMs' in error ? error.retryAfterMs : undefined
  return typeof told === 'number' ? told : undefined
}
