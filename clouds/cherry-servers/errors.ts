import type { Refusal } from '../http/faults.ts'
import { fieldsOf, textOf, textsOf } from '../http/loose-json.ts'
import type { Fault } from '../ports/cloud.ts'
import { vendorErrors } from '../ports/vendor-errors.ts'

export const vendor = 'Cherry Servers'

export const { refusal, requireProject, requireSameId, requireUnassigned, unreadableError, goneError } =
  vendorErrors(vendor)

/** The API's text of a refusal. It sends `message`; older clients also know the other fields. */
export function errorText(body: unknown): string | undefined {
  const { message, error, errors } = fieldsOf(body)
  return textOf(message) ?? textOf(error) ?? textOf(textsOf(errors).join('; '))
}

/** The fault of a refusal. The API answers 400 to every impossible request, and gives the reason only as undocumented text. */
export function faultOf({ name, status, text }: Refusal): Fault | undefined {
  if (status !== 400) return undefined
  // A DELETE can only be premature: the address is in use.
  if (name === 'release') return 'conflict'
  const isQuota = /quota|limit|exceed|maximum|insufficient|not enough|no available/i.test(text ?? '')
  return name === 'reserve' && isQuota ? 'quota' : 'invalid'
}
