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

function hasReason(reason: string) {
  return (error: unknown): error is KubeError => error instanceof KubeError && error.reason === reason
}

/** Whether the API server denied us a right. */
export const isForbidden = hasReason('Forbidden')

/** Whether the API server does not serve the kind of the object. */
export const isUnknownKind = hasReason('UnknownKind')

/** Whether the object does not exist, but its kind does. */
export const isMissing = hasReason('NotFound')

/** Whether the answer is larger than we read. A smaller page of the list may pass. */
export const isTooLarge = hasReason('TooLarge')

/** Whether we have no credentials: there is no file, or no usable one. */
export const hasNoCredentials = hasReason('NoCredentials')

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

/** Whether another process was faster, at a create or at a later write. */
export function isRace(error: unknown): error is KubeError {
  return isConflict(error) || isAlreadyExists(error)
}

/** Whether the resource version or the continue token has expired, so that only a new list helps. */
export function isGone(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 410
}

/** Whether the API server did not answer, or asks us to retry: the same call may succeed later. */
export function isUnanswered(error: unknown): error is KubeError {
  if (!(error instanceof KubeError) || error.reason === 'NoCredentials') return false
  return error.status === 0 || error.status === 429 || error.status >= 500
}

/** The result of a call; or a substitute, undefined by default, if it fails with an error that the caller expects. */
export async function resultUnless<T, Substitute = undefined>(
  isExpected: (error: unknown) => boolean,
  call: Promise<T>,
  substitute = undefined as Substitute,
): Promise<T | Substitute> {
  try {
    return await call
  } catch (error) {
    if (isExpected(error)) return substitute
    throw error
  }
}
