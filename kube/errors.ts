export type KubeErrorFacts = {
  status: number
  reason: string
  retryAfterMs?: number | undefined
  cause?: unknown
}

/** A call that the API server refused or never received. The message names the call and the object. */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  /** The HTTP status; 0 without a response. */
  readonly status: number
  /**
   * The reason of the server's Status (`Conflict`, `Forbidden`), or our own:
   * - `Unreachable`, `Timeout`, `TooLarge`, `NoCredentials`
   * - `Unreadable`: not the response of an API server
   * - `UnknownKind`: the server does not serve this kind
   */
  readonly reason: string
  /** How long the server asks us to wait. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, { status, reason, retryAfterMs, cause }: KubeErrorFacts) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** A maintenance page that asks for an hour does not know that we miss changes meanwhile. */
const maxAskedMs = 60_000

/** How long the API server, or a proxy before it, asks us to wait before we look again: a minute at most. */
export function askedWaitMs({ retryAfterMs }: KubeError): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, maxAskedMs)
}

/** Whether the API server denied us a right. */
export function isForbidden(error: unknown): error is KubeError {
  return error instanceof KubeError && error.reason === 'Forbidden'
}

/** Whether the object, or its whole kind, does not exist. */
export function isNotFound(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 404
}

/** Whether another writer was faster: the resourceVersion, the uid or a field's owner is not the expected one. */
export function isConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.reason !== 'AlreadyExists'
}

/** Whether an object of that name already exists. */
export function isAlreadyExists(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.reason === 'AlreadyExists'
}

/** Whether the resource version or the continue token has expired, so that only a new list helps. */
export function isGone(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 410
}

/** Whether the answer is larger than we read. A smaller page of the list may pass. */
export function isTooLarge(error: unknown): error is KubeError {
  return error instanceof KubeError && error.reason === 'TooLarge'
}

/** Whether the API server did not answer, or asks us to retry: the same call may succeed later. */
export function isUnanswered(error: unknown): error is KubeError {
  if (!(error instanceof KubeError) || error.reason === 'NoCredentials') return false
  return error.status === 0 || error.status === 429 || error.status >= 500
}

/** Whether we have no credentials: there is no file, or no usable one. */
export function hasNoCredentials(error: unknown): error is KubeError {
  return error instanceof KubeError && error.reason === 'NoCredentials'
}
