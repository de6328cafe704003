/** An answer that is an error: a status, and the sentences that go into the body's `errors`. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly errors: string[]

  constructor(status: number, errors: string[]) {
    super(errors.join('; '))
    this.status = status
    this.errors = errors
  }
}

/** What an error says when there is nothing to add: as seen in public, else the name of the status. */
const usual: Record<number, string> = {
  400: 'Bad request',
  401: 'Invalid authentication token',
  403: 'Access denied for the current authentication token',
  404: 'Not found',
  422: 'Unprocessable entity',
  429: 'Too many requests',
  500: "Oh snap, something went wrong! We've logged the error and will take a look - please reach out to us if you continue having trouble.",
}

/** The body of an error. Authentication alone answers with one `error`; everything else with a list of `errors`. */
export function errorBody(status: number, messages: string[] = []): { error: string } | { errors: string[] } {
  const [first = usual[status] ?? `Error ${status}`, ...more] = messages
  return status === 401 ? { error: first } : { errors: [first, ...more] }
}

/** No token, or one that nobody knows. */
export const unauthorized = () => new ApiError(401, [])

/** A token without the right. */
export const forbidden = () => new ApiError(403, [])

/** An id that never was, or is no more. */
export const notFound = () => new ApiError(404, [])

/** A request that cannot be met: validation, quota, conflict. The vendor has no 409. */
export const unprocessable = (...errors: string[]) => new ApiError(422, errors)
