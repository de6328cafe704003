import type { Fault } from '../ports/cloud.ts'
import type { Refusal } from '../http/faults.ts'
import { fieldsOf, textOf, textsOf } from '../http/loose-json.ts'
import { vendorErrors } from '../ports/vendor-errors.ts'

export const vendor = 'phoenixNAP'

export const { refusal, requireSameId, requireUnassigned, unreadableError } = vendorErrors(vendor)

/** An API's text of a refusal, and the fault of each field. The token service uses other fields. */
export function errorText(body: unknown): string | undefined {
  const { message, validationErrors, error, error_description: description } = fieldsOf(body)
  const text = textOf(message) ?? textOf(description) ?? textOf(error)
  return textOf([text, ...textsOf(validationErrors)].filter((one) => one !== undefined).join('; '))
}

/** The fault of a refusal whose status does not tell. */
export function faultOf({ name, status, text = '' }: Refusal): Fault | undefined {
  // The location has no block of this size left, or no BGP.
  if (status === 406) return name === 'reserve' ? 'quota' : 'invalid'
  // The status at an account's limit is not known outside the vendor.
  const isLimit = /quota|limit|exceed/i.test(text) && (status === 400 || status === 403)
  if (name === 'reserve' && isLimit) return 'quota'
  // A DELETE can only be premature: the block is in use.
  return name === 'release' && status === 400 ? 'conflict' : undefined
}

/** The fault of a refused token: in any case, the client or its secret is wrong. */
export function tokenFaultOf({ status }: Refusal): Fault | undefined {
  return status >= 400 && status < 500 && status !== 408 ? 'auth' : undefined
}
