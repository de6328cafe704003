import { repeatLater } from '../../lib/repeat.ts'
import { systemClock as clock } from '../../kube/clock.ts'
import type { Election } from '../../kube/election.ts'
import type { Parts } from './parts.ts'
import type { KnownAddress } from '../../controllers/control-plane/known-address.ts'
import { backoffMs } from '../../lib/backoff.ts'
import type { Base } from '../base.ts'
import { ownPathProblem } from './own-path.ts'

/** Runs work, and then ends all that it began, even if it failed. */
export async function runUntilAborted(
  work: () => Promise<void>,
  running: AbortController,
  signal: AbortSignal,
): Promise<void> {
  const stop = () => running.abort()
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (!signal.aborted) await work()
  } finally {
    stop()
  }
}

/** Probes, and leads whenever this replica holds the lease, until the guardian has to stop. */
export async function runGuardian(parts: Parts, elected: Election): Promise<void> {
  const { base, caches, targets, watchdog, awake, signal } = parts
  const lead = async () => {
    await Promise.all([caches.synced(signal), firstLook({ ...base, known: parts.known }, signal)])
    await elected.run(signal)
  }
  caches.onChange(() => {
    targets.refresh()
    awake.wake()
  })
  caches.start(signal)
  void watchdog.watch(signal, (ms) => base.endAtOnce(`the guardian's loop has stalled for ${Math.round(ms / 1000)} s`))
  // No notice comes when an interface of this machine gets or loses the address.
  void repeatLater(() => targets.refresh(), { everyMs: 10_000, signal, clock })
  try {
    await lead()
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    targets.stop()
  }
}

type Deps = Pick<Base, 'credentials' | 'settings' | 'log'> & { known: KnownAddress }

/**
 * Reads the cloud for the first time, again after each failure. Throws if a process that only guards the address would
 * talk through it.
 */
async function firstLook({ known, credentials, settings, log }: Deps, signal: AbortSignal): Promise<void> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      await known.find(signal)
      break
    } catch (error) {
      if (signal.aborted) return
      log.warn({ error: error instanceof Error ? error.message : String(error) }, 'waiting for the provider')
      await clock.sleep(backoffMs(failures, { firstMs: 500, maxMs: 10_000 }), signal)
    }
  }
  const address = known.current()?.address
  const problem = address === undefined ? undefined : await ownPathProblem(credentials, address)
  if (problem === undefined) return
  if (settings.process.only === 'control-plane') throw new Error(problem)
  log.error({ address, problem }, 'the control-plane address cannot be guarded well')
}
