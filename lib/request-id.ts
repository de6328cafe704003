import { AsyncLocalStorage } from 'node:async_hooks'

const running = new AsyncLocalStorage<string | undefined>()

/** The id of the request that the running code works for: the uid of a review. */
export function currentRequestId(): string | undefined {
  return running.getStore()
}

/** Runs work, and all that it starts, for a request; undefined for none. */
export function forRequest<T>(id: string | undefined, work: () => T): T {
  return running.run(id, work)
}

/** The same work for later callers: it runs for the request that is current now. */
export function boundToRequest<T>(work: () => T): () => T {
  const id = currentRequestId()
  return () => forRequest(id, work)
}

/** As much of an id as a person types to find it in the log. */
export function shortRequestId(id: string): string {
  return id.slice(0, 8)
}

/** The review for which a record, or an Event about it, was written. Each line of the log about it has the same id. */
export const requestIdAnnotation = 'eip-admission.dev/request-id'
