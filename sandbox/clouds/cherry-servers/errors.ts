/** An answer that is an error: a status, and a sentence for the body's `message`. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  constructor(status: number, message?: string) {
    super(message ?? usualMessage(status))
    this.status = status
  }
}

/** What is documented for each status: no other wording is public. */
const usual: Record<number, string> = {
  400: 'Bad Request',
  401: 'No valid API key provided.',
  403: "You don't have permission to perform the request.",
  404: "The requested resource doesn't exist.",
  429: 'Too many requests.',
  500: 'Something went wrong on our side.',
}

/** The body of an error, whose `code` is the status. */
export function errorBody(status: number, message: string = usualMessage(status)): { code: number; message: string } {
  return { code: status, message }
}

function usualMessage(status: number): string {
  return usual[status] ?? `Error ${status}`
}

/** No token, or one that nobody knows. */
export const unauthorized = () => new ApiError(401)

/** A token without the right. */
export const forbidden = () => new ApiError(403)

/** An id that never was, or is no more. */
export const notFound = () => new ApiError(404)

/** A request that cannot be met, whatever the reason: the vendor has neither 409 nor 422. */
export const badRequest = (message: string) => new ApiError(400, message)
