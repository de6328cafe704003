import { systemClock as clock } from '../../kube/clock.ts'
import type { Election } from '../../kube/election.ts'
import { firstLook } from './first-look.ts'
import type { Parts } from './parts.ts'
import type { Targets } from './targets.ts'

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
    while (!signal.aborted) await elected.run(signal)
  }
  caches.onChange(() => {
    targets.refresh()
    awake.wake()
  })
  caches.start(signal)
  void watchdog.watch(signal, (ms) => base.endAtOnce(`the guardian's loop has stalled for ${Math.round(ms / 1000)} s`))
  void refreshOften(targets, signal)
  try {
    await lead()
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    targets.stop()
  }
}

/** Nobody tells us when an interface of this machine gets or loses the address. */
async function refreshOften(targets: Targets, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(10_000, signal)
    if (!signal.aborted) targets.refresh()
  }
}
