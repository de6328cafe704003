import type { Controller } from './controller.ts'

/** Runs the controllers until the signal aborts or one of them fails, and until each has ended what it began. */
export async function runAll(controllers: readonly Pick<Controller, 'run'>[], signal: AbortSignal): Promise<void> {
  const failed = new AbortController()
  const until = AbortSignal.any([signal, failed.signal])
  const failures: unknown[] = []
  const run = async (controller: Pick<Controller, 'run'>) => {
    try {
      await controller.run(until)
    } catch (error) {
      failures.push(error)
      failed.abort()
    }
  }
  // Whoever waits for a cache ends at once. The lease must not end before those that still write.
  await Promise.all(controllers.map(run))
  if (failures.length > 0) throw failures[0]
}
