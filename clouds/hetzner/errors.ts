import type { Fault } from '../ports/cloud.ts'
import type { Refusal } from '../http/faults.ts'
import { fieldsOf, textOf } from '../http/loose-json.ts'
import { vendorErrors } from '../ports/vendor-errors.ts'

export const vendor = 'Hetzner Cloud'

export const { refusal, requireSameId, requireUnassigned, unreadableError, goneError } = vendorErrors(vendor)

/** The code of a refusal, because its text changes without notice. */
export function errorCode(body: unknown): string | undefined {
  return textOf(fieldsOf(fieldsOf(body).error).code)
}

/** The API's text of a refusal, with the code that its documentation and its support use. */
export function errorText(body: unknown): string | undefined {
  const text = textOf(fieldsOf(fieldsOf(body).error).message)
  const code = errorCode(body)
  return text === undefined || code === undefined ? (text ?? code) : `${text} (${code})`
}

const faults: Record<string, Fault> = {
  resource_limit_exceeded: 'quota',
  rate_limit_exceeded: 'rate-limit',
  maintenance: 'unavailable',
  // No address, or no server of the type, is available at the moment.
  resource_unavailable: 'unavailable',
  unavailable: 'unavailable',
  service_error: 'unavailable',
  // Another action works on the same resource, or a person protects it.
  conflict: 'conflict',
  locked: 'conflict',
  protected: 'conflict',
  must_be_unassigned: 'conflict',
  uniqueness_error: 'conflict',
  // Only the vendor's support unlocks it.
  resource_locked: 'conflict',
}

/** The fault of a refusal whose status does not tell. */
export function faultOf({ name, body }: Refusal): Fault | undefined {
  const code = errorCode(body) ?? ''
  // Such a lock of a server may last for days, so an address tries another server meanwhile.
  return name === 'assign' && code === 'resource_locked' ? 'invalid' : faults[code]
}

/** Whether something failed inside the provider, so that nothing proves that nothing was done. */
export function isDoubtful({ body }: Refusal): boolean {
  return errorCode(body) === 'service_error'
}
