import type { Refusal } from '../http/faults.ts'
import { fieldsOf, textOf, textsOf } from '../http/loose-json.ts'
import type { Fault } from '../ports/cloud.ts'
import { vendorErrors } from '../ports/vendor-errors.ts'

export const vendor = 'Equinix Metal'

export const { refusal, requireProject, requireSameId, requireUnassigned, unreadableError, goneError } =
  vendorErrors(vendor)

/** The API's text of a refusal, in `errors`; the check of the key uses `error`. */
export function errorText(body: unknown): string | undefined {
  const { errors, error } = fieldsOf(body)
  return textOf(textsOf(errors).join('; ')) ?? textOf(error)
}

/** The fault of a refusal. The API answers 422 for conflicts and quota, too; only undocumented text distinguishes them. */
export function faultOf({ name, status, text }: Refusal): Fault | undefined {
  if (status !== 422) return undefined
  // A DELETE can only be premature: the block is still assigned to a machine.
  if (name === 'release') return 'conflict'
  // The same holds for an assignment, which the API may still be making or deleting.
  if (name === 'unassign') return 'conflict'
  // A wrong guess is harmless: both faults are final, and people read the text itself.
  const isQuota = /quota|limit|insufficient|exceed|approv|not enough|no available/i.test(text ?? '')
  return name === 'reserve' && isQuota ? 'quota' : 'invalid'
}
