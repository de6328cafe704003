import { ApiError } from '../api-error.ts'

/** The code that the vendor documents for each status that has a single one. */
const usual: Record<number, [code: string, message: string]> = {
  400: ['json_error', 'invalid JSON in the request'],
  401: ['unauthorized', 'unable to authenticate'],
  403: ['forbidden', 'insufficient permissions'],
  404: ['not_found', 'resource not found'],
  405: ['method_not_allowed', 'method not allowed'],
  409: ['conflict', 'the resource changed while the request was processed'],
  412: ['resource_unavailable', 'the requested resource is currently unavailable'],
  422: ['invalid_input', 'invalid input'],
  423: ['locked', 'the resource is locked'],
  429: ['rate_limit_exceeded', 'limit of 3600 requests per hour reached'],
  500: ['server_error', 'an internal error occurred'],
}

/** Returns the body of an error. */
export function errorBody(status: number, message?: string, code?: string) {
  const [usualCode, text] = usual[status] ?? ['server_error', `error ${status}`]
  return { error: { code: code ?? usualCode, message: message ?? text, details: null } }
}

/** An error with the documented code of a status. */
export function refused(status: number, message?: string): ApiError {
  return new ApiError(status, errorBody(status, message))
}

/** An error with a code of its own. */
export function refusedFor(status: number, code: string, of: { message: string; details?: unknown }): ApiError {
  return new ApiError(status, { error: { code, message: of.message, details: of.details ?? null } })
}

/** 422: a field that the API does not accept, and why. */
export function invalidInput(name: string, problem: string): ApiError {
  const details = { fields: [{ name, messages: [problem] }] }
  return refusedFor(422, 'invalid_input', { message: `invalid input in field '${name}'`, details })
}
