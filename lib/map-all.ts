import pMap from 'p-map'

/** Processes every item, a few at a time. An error does not stop the other items; in the end, all errors are thrown as one. */
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
