import type { Balancers } from '../../ports/balancers.ts'
import type { Fault } from '../../ports/cloud.ts'
import { balancersOf, vendor } from './balancers.ts'
import { vendorHttp, type ClientOptions } from '../../http/client.ts'
import type { Refusal } from '../../http/faults.ts'
import { fieldsOf, itemsOf, textOf } from '../../http/loose-json.ts'
import type { VendorCall } from '../../http/request.ts'
import { tokenCredentials } from '../../http/token.ts'

type EquinixMetalBalancersOptions = ClientOptions & {
  projectId: string
  /** Where the API key is exchanged for tokens. */
  tokensUrl: string
  /** A monotonic clock in milliseconds. */
  now?: () => number
}

export function equinixMetalBalancers(options: EquinixMetalBalancersOptions): Balancers {
  const { apiKey, projectId, baseUrl, tokensUrl, now, ...tuning } = options
  const auth = `check that the API key is valid and may read and write in project ${projectId}`
  const common = { ...tuning, vendor, errorText }
  const tokens = vendorHttp({
    ...common,
    baseUrl: tokensUrl,
    headers: () => ({ authorization: `Bearer ${apiKey.reveal()}` }),
    hints: { auth },
  })
  const call: VendorCall = { name: 'exchange-token', method: 'POST', path: ['api-keys', 'exchange'] }
  const http = vendorHttp({
    ...common,
    ...tokenCredentials({ vendor, http: tokens, call, basis: () => apiKey.reveal(), now }),
    baseUrl,
    fault: faultOf,
    hints: { auth, quota: 'delete load balancers that are not used, or have the limit of the project raised' },
  })
  return { name: vendor, ...balancersOf({ http, id: projectId }) }
}

/** The documentation promises `errors` and does not say of what: texts, or objects with a message. */
function errorText(body: unknown): string | undefined {
  const { errors, error, message } = fieldsOf(body)
  const texts = itemsOf(errors)?.flatMap((one) => textOf(one) ?? textOf(fieldsOf(one).message) ?? [])
  return texts && texts.length > 0 ? texts.join('; ') : (textOf(error) ?? textOf(message))
}

/** The status of a refusal is not documented, the text of the limit is. */
function faultOf({ status, text = '' }: Refusal): Fault | undefined {
  if (status < 400 || status >= 500) return undefined
  return /limit reached|quota/i.test(text) ? 'quota' : undefined
}
