import { ApiError } from '../api-error.ts'

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
export function errorBody(status: number, ...messages: string[]): object {
  const [first = defaultTexts[status] ?? `Error ${status}`, ...more] = messages
  return status === 401 ? { error: first } : { errors: [first, ...more] }
}

/** An error with these sentences, or the usual one of its status. */
export const refused = (status: number, ...messages: string[]) => new ApiError(status, errorBody(status, ...messages))

/** 401: no token, or an unknown one. */
export const unauthorized = () => refused(401)

/** 403: a token without the right. */
export const forbidden = () => refused(403)

/** 404: an id that does not exist, or no longer exists. */
export const notFound = () => refused(404)

/** 422: a failed validation, an exceeded quota or a conflict. The vendor has no 409. */
export const unprocessable = (...errors: string[]) => refused(422, ...errors)
