import { ApiError } from '../api-error.ts'

type Fields = Record<string, unknown>

/** The body that the vendor sends with each status that has a single type. */
const usual: Record<number, Fields> = {
  400: { type: 'invalid_arguments', message: 'invalid argument(s)', details: [] },
  401: { type: 'denied_authentication', method: 'api_key', reason: 'not_found', message: 'authentication is denied' },
  403: { type: 'permissions_denied', message: 'insufficient permissions', details: [] },
  404: { type: 'not_found', message: 'resource is not found', resource: '', resource_id: '' },
  409: { type: 'transient_state', message: 'resource is in a transient state', current_state: 'updating' },
  412: { type: 'precondition_failed', message: 'precondition failed', precondition: 'unknown_precondition' },
  429: { type: 'too_many_requests', message: 'too many requests' },
  500: { message: 'internal error' },
}

/** Returns the body of an error, which is only a text if the status has no documented type. */
export function errorBody(status: number, message?: string): Fields {
  const body = usual[status] ?? { message: `error ${status}` }
  return message === undefined ? body : { ...body, message }
}

/** An error with the documented type of a status. */
export function refused(status: number, more: Fields = {}): ApiError {
  return new ApiError(status, { ...errorBody(status), ...more })
}

/** 400: an argument that the API does not accept, and why. */
export function invalidArgument(name: string, help: string, reason = 'constraint'): ApiError {
  return refused(400, { details: [{ argument_name: name, reason, help_message: help }] })
}

/** 403: no right, or no such address. The API does not tell which. */
export function denied(action: 'read' | 'write'): ApiError {
  return refused(403, { details: [{ action, resource: 'flexible-ip' }] })
}
