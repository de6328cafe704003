import { vendorHttp, type VendorHttp, type ClientOptions } from '../http/client.ts'
import type { VendorCall } from '../http/request.ts'
import { tokenCredentials } from '../http/token.ts'
import type { Peering } from '../ports/peering.ts'
import type { Vendor } from '../ports/cloud-provider.ts'
import { accountAt, type Account, pathOf } from './account.ts'
import { errorText, faultOf, tokenFaultOf, vendor, unreadableError } from './errors.ts'
import { machinesOf } from './machines.ts'
import { peeringOf, type PeeringOptions } from './peering.ts'
import { reservationsOf } from './reservations.ts'
import type { Location } from '../ports/cloud.ts'
import { fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'

/** The options of the client. The API key is its secret. */
export type PhoenixnapOptions = ClientOptions &
  PeeringOptions & {
    clientId: string
    location: string
    /** Where tokens are granted. */
    authUrl: string
    /** A monotonic clock in milliseconds. */
    now?: () => number
  }

/** Every scope that we need. */
const scope = 'bmc bmc.read tags tags.read'

const grant = { grant_type: 'client_credentials' }

const tokenCall: VendorCall = {
  name: 'token',
  method: 'POST',
  path: ['auth', 'realms', 'BMC', 'protocol', 'openid-connect', 'token'],
  form: { ...grant, scope },
}

/** The token service refuses a client that lacks one of the scopes. Without the parameter it grants those that it has. */
function withFewerScopes(http: VendorHttp): VendorHttp {
  return {
    async call(call, signal) {
      const answer = await http.call({ ...call, accept: [400] }, signal)
      // If the scopes were not the reason, the second answer is the same refusal.
      return answer.status === 400 ? http.call({ ...call, form: grant }, signal) : answer
    },
  }
}

/** An account of phoenixNAP's Bare Metal Cloud: its IP blocks, its servers, and the BGP of one location. */
export function phoenixnap(options: PhoenixnapOptions): Vendor & { peering: Peering } {
  const { clientId, apiKey, location, baseUrl, authUrl, now, peerAsn, createsPeerGroup, ...tuning } = options
  const auth = `check that the API key, which is client ${clientId} with its secret, is valid and has the scopes ${scope}`
  const common = { ...tuning, vendor, errorText }
  const tokens = vendorHttp({
    ...common,
    baseUrl: authUrl,
    headers: () => ({ authorization: `Basic ${basic(clientId, apiKey.reveal())}` }),
    fault: tokenFaultOf,
    hints: { auth },
  })
  const credentials = tokenCredentials({
    vendor,
    http: withFewerScopes(tokens),
    call: tokenCall,
    basis: () => apiKey.reveal(),
    ...(now && { now }),
  })
  const http = vendorHttp({
    ...common,
    ...credentials,
    baseUrl,
    fault: faultOf,
    hints: {
      auth,
      quota: `delete IP blocks that are not needed, or ask ${vendor} for more: a limit is reached, or no /31 is left in ${location}`,
    },
  })
  const account = accountAt(http, location)
  return {
    name: vendor,
    ...reservationsOf(account),
    locations: (signal) => listLocations(account, signal),
    ...machinesOf(account),
    peering: peeringOf(account, { peerAsn, createsPeerGroup }),
  }
}

/** OAuth requires both parts to be encoded, because either may contain a colon. A secret's file may end with a line break. */
function basic(id: string, secret: string): string {
  return Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret.trim())}`).toString('base64')
}

/** The locations that have public addresses. */
async function listLocations({ http }: Account, signal: AbortSignal): Promise<Location[]> {
  const query = { productCategory: 'PUBLIC_IP' }
  const { body } = await http.call({ name: 'locations', method: 'GET', path: pathOf.locations, query }, signal)
  const items = itemsOf(body)?.map(fieldsOf)
  if (!items) throw unreadableError('locations', 'no list of locations')
  return items.flatMap(({ location, locationDescription }) => {
    const code = textOf(location)
    return code === undefined ? [] : { code, name: textOf(locationDescription) ?? code, kind: 'location' }
  })
}
