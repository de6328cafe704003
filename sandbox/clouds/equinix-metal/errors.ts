/** An error answer: its status, and the sentences in `errors` of its body. */
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

/** The default text for each status: as publicly documented or observed, otherwise the name of the status. */
const defaultTexts: Record<number, string> = {
  400: 'Bad request',
  401: 'Invalid authentication token',
  403: 'Access denied for the current authentication token',
  404: 'Not found',
  422: 'Unprocessable entity',
  429: 'Too many requests',
  500: "Oh snap, something went wrong! We've logged the error and will take a look - please reach out to us if you continue having trouble.",
}

/** Returns the body of an error: one `error` for 401, a list of `errors` for every other status. */
export function errorBody(status: number, messages: string[] = []): { error: string } | { errors: string[] } {
  const [first = defaultTexts[status] ?? `Error ${status}`, ...more] = messages
  return status === 401 ? { error: first } : { errors: [first, ...more] }
}

/** Returns the status of an error. */
export function statusOf(error: unknown): number {
  if (error instanceof ApiError) return error.status
  return error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
}

/** Returns the sentences of an error. */
export function messagesOf(error: unknown): string[] {
  return error instanceof ApiError ? error.errors : []
}

/** 401: no token, or an unknown one. */
export const unauthorized = () => new ApiError(401, [])

/** 403: a token without the right. */
export const forbidden = () => new ApiError(403, [])

/** 404: an id that does not exist, or no longer exists. */
export const notFound = () => new ApiError(404, [])

/** 422: a failed validation, an exceeded quota or a conflict. The vendor has no 409. */
export const unprocessable = (...errors: string[]) => new ApiError(422, errors)
