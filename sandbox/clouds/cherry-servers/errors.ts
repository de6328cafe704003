/** An error answer: its status, and the sentence in `message` of its body. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  constructor(status: number, message?: string) {
    super(message ?? defaultMessage(status))
    this.status = status
  }
}

/** The documented text for each status: the vendor publishes no others. */
const documented: Record<number, string> = {
  400: 'Bad Request',
  401: 'No valid API key provided.',
  403: "You don't have permission to perform the request.",
  404: "The requested resource doesn't exist.",
  429: 'Too many requests.',
  500: 'Something went wrong on our side.',
}

/** Returns the body of an error, whose `code` is the status. */
export function errorBody(status: number, message: string = defaultMessage(status)): { code: number; message: string } {
  return { code: status, message }
}

function defaultMessage(status: number): string {
  return documented[status] ?? `Error ${status}`
}

/** 401: no token, or an unknown one. */
export const unauthorized = () => new ApiError(401)

/** 403: a token without the right. */
export const forbidden = () => new ApiError(403)

/** 404: an id that does not exist, or no longer exists. */
export const notFound = () => new ApiError(404)

/** 400: a request that the cloud cannot fulfil, for any reason. The vendor has neither 409 nor 422. */
export const badRequest = (message: string) => new ApiError(400, message)
