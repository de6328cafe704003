/** An error answer: its status, and what its body says. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly details: unknown

  constructor(status: number, code: string, { message, details = null }: { message: string; details?: unknown }) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

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
export function errorBody(status: number, message?: string, { code, details = null }: Partial<ApiError> = {}) {
  const [usualCode, text] = usual[status] ?? ['server_error', `error ${status}`]
  return { error: { code: code ?? usualCode, message: message ?? text, details } }
}

/** An error with the documented code of a status. */
export function refused(status: number, message?: string): ApiError {
  const [code, text] = usual[status] ?? ['server_error', '']
  return new ApiError(status, code, { message: message ?? text })
}

/** 422: a field that the API does not accept, and why. */
export function invalidInput(name: string, problem: string): ApiError {
  const details = { fields: [{ name, messages: [problem] }] }
  return new ApiError(422, 'invalid_input', { message: `invalid input in field '${name}'`, details })
}
