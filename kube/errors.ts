export type KubeErrorFacts = {
  status: number
  reason: string
  retryAfterMs?: number | undefined
  cause?: unknown
}

/** A call that the API server refused, or that never reached it. The message names the call and the object. */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number
  /**
   * The reason in the server's Status (`Conflict`, `Forbidden`), or one of ours: `Unreachable`, `Timeout`, `Unreadable`
   * (an answer that is none), `NoCredentials`, `UnknownKind` (the server does not serve such objects at all).
   */
  readonly reason: string
  /** How long the server asks us to stay away. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, { status, reason, retryAfterMs, cause }: KubeErrorFacts) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** The object, or its whole kind, is not there. */
export function isNotFound(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 404
}

/** Somebody else was quicker: the resourceVersion, the uid or a field's owner is not what the call expected. */
export function isConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.reason !== 'AlreadyExists'
}

/** An object of that name is there already. */
export function isAlreadyExists(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.reason === 'AlreadyExists'
}

/** The resource version or the continue token is too old: only a new list helps. */
export function isGone(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 410
}

/** The server does not know who we are. */
export function isUnauthorized(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 401
}

/** There is nothing to say who we are with: no file, or none that can be used. */
export function lacksCredentials(error: unknown): error is KubeError {
  return error instanceof KubeError && error.reason === 'NoCredentials'
}
