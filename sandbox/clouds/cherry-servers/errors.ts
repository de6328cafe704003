import { ApiError } from '../api-error.ts'

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
export function errorBody(status: number, message = documented[status] ?? `Error ${status}`) {
  return { code: status, message }
}

/** An error with this text, or the documented one of its status. */
export const refused = (status: number, message?: string) => new ApiError(status, errorBody(status, message))

/** 401: no token, or an unknown one. */
export const unauthorized = () => refused(401)

/** 403: a token without the right. */
export const forbidden = () => refused(403)

/** 404: an id that does not exist, or no longer exists. */
export const notFound = () => refused(404)

/** 400: a request that the cloud cannot fulfil, for any reason. The vendor has neither 409 nor 422. */
export const badRequest = (message: string) => refused(400, message)
