/** A part of the process that works until the signal aborts and all that it began has ended. */
type Part = { run(signal: AbortSignal): Promise<void> }

/** Runs the parts until the signal aborts or one of them fails, and until each has ended what it began. */
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
  // A part that only waits ends at once. A lease must not end before those that still write under it.
  await Promise.all(parts.map(run))
  if (failures.length > 0) throw failures[0]
}
