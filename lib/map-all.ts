import pMap from 'p-map'

/** Does the work for every item, a few at a time. Errors stop no other item; then all of them are thrown as one. */
export async function mapAll<T, Result>(
  items: readonly T[],
  work: (item: T) => Promise<Result>,
  concurrency: number,
): Promise<Result[]> {
  try {
    return await pMap(items, work, { concurrency, stopOnError: false })
  } catch (error) {
    const errors: unknown[] = error instanceof AggregateError ? error.errors : [error]
    if (errors.length === 1) throw errors[0]
    const messages = errors.map((one) => (one instanceof Error ? one.message : String(one)))
    throw new AggregateError(errors, `${errors.length} of ${items.length} failed: ${messages.join('; ')}`, {
      cause: error,
    })
  }
}

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
