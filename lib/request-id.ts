import { AsyncLocalStorage } from 'node:async_hooks'

const running = new AsyncLocalStorage<string | undefined>()

/** The id of the request for which the current code runs: the uid of a review. */
export function currentRequestId(): string | undefined {
  return running.getStore()
}

/** Runs work, and everything that it starts, for a request; undefined for none. */
export function forRequest<T>(id: string | undefined, work: () => T): T {
  return running.run(id, work)
}

/** Binds work to the current request, for later callers. */
export function boundToRequest<T>(work: () => T): () => T {
  const id = currentRequestId()
  return () => forRequest(id, work)
}

/** The part of an id that a person types to find it in the log. */
export function shortRequestId(id: string): string {
  return id.slice(0, 8)
}

/** The review for which a record, or an Event about it, was written. Every log line about it has the same id. */
export const requestIdAnnotation = 'eip-admission.dev/request-id'
