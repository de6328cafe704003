import type { Fault } from '../ports/cloud.ts'
import type { Refusal } from '../http/faults.ts'
import { countOf, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { vendorErrors } from '../ports/vendor-errors.ts'

export const vendor = 'Scaleway'

export const { refusal, requireProject, requireSameId, requireUnassigned, unreadableError, goneError } =
  vendorErrors(vendor)

/** The API's text of a refusal, its type, and the invalid argument. */
export function errorText(body: unknown): string | undefined {
  const { message, type, details, help_message: help } = fieldsOf(body)
  const code = textOf(type)
  const parts = [textOf(message) ?? code, textOf(help), ...(itemsOf(details)?.map(detailText) ?? [])]
  const text = parts.filter((part) => part !== undefined && part !== '').join('; ')
  return textOf(code === undefined || text === code ? text : `${text} (${code})`)
}

function detailText(detail: unknown): string {
  const { argument_name: argument, help_message: help, reason, action, resource, quota, current } = fieldsOf(detail)
  if (textOf(argument) !== undefined) return `${textOf(argument)}: ${textOf(help) ?? textOf(reason) ?? 'wrong'}`
  if (countOf(quota) !== undefined)
    return `${textOf(resource) ?? 'quota'}: ${countOf(current) ?? '?'} of ${countOf(quota)}`
  return [action, resource].flatMap((one) => textOf(one) ?? []).join(' ')
}

/** The statuses of some types are not documented, so the type decides first. */
const faults: Record<string, Fault> = {
  denied_authentication: 'auth',
  permissions_denied: 'auth',
  quotas_exceeded: 'quota',
  too_many_requests: 'rate-limit',
  // Another change is in progress, the vendor has locked it, or its state does not permit this change.
  transient_state: 'conflict',
  locked: 'conflict',
  precondition_failed: 'conflict',
  invalid_arguments: 'invalid',
  resource_expired: 'invalid',
  out_of_stock: 'unavailable',
}

/** The fault of a refusal whose type tells. */
export function faultOf({ body }: Refusal): Fault | undefined {
  return faults[textOf(fieldsOf(body).type) ?? '']
}
