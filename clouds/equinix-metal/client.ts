import type { Fault } from '../ports/cloud.ts'
import { assignmentsOf } from './assignments.ts'
import { listLocations } from './locations.ts'
import { machinesOf } from './machines.ts'
import { peeringOf } from './peering.ts'
import { reservationsOf } from './reservations.ts'
import type { ProjectOptions } from './project.ts'
import { vendorHttp, type VendorHttpOptions } from '../http/client.ts'
import type { Refusal } from '../http/faults.ts'
import { fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import type { Vendor } from '../ports/vendor.ts'

const equinixMetalUrl = 'https://api.equinix.com/metal/v1'

export type EquinixMetalOptions = {
  apiKey: { reveal(): string }
  projectId: string
  userAgent: string
  baseUrl?: string | undefined
} & ProjectOptions &
  Pick<
    VendorHttpOptions,
    'inFlight' | 'rate' | 'readTimeoutMs' | 'writeTimeoutMs' | 'retryDelayMs' | 'proxy' | 'observe'
  >

/** One Equinix Metal project: its addresses, its machines and their BGP. */
export function equinixMetal(options: EquinixMetalOptions): Required<Vendor> {
  const { apiKey, projectId, baseUrl, places, peerAsn, otherPeerAsn, ...tuning } = options
  const http = vendorHttp({
    ...tuning,
    vendor: 'Equinix Metal',
    baseUrl: baseUrl ?? equinixMetalUrl,
    headers: () => ({ 'x-auth-token': apiKey.reveal() }),
    errorText,
    fault: faultOf,
    hints: {
      auth: `check that the API key is valid and may read and write in project ${projectId}`,
      quota: 'delete addresses that are not used, or have the limit of the project raised',
    },
  })
  const project = { http, id: projectId, places, peerAsn, otherPeerAsn }
  return {
    name: 'Equinix Metal',
    ...reservationsOf(project),
    locations: (signal) => listLocations(project, signal),
    ...machinesOf(project),
    peering: peeringOf(project),
    assignments: assignmentsOf(project),
  }
}

/** The API writes `errors`; the check of the key writes `error`. */
function errorText(body: unknown): string | undefined {
  const { errors, error } = fieldsOf(body)
  const texts = itemsOf(errors)?.flatMap((one) => textOf(one) ?? [])
  return texts && texts.length > 0 ? texts.join('; ') : textOf(error)
}

/** Equinix Metal answers 422 for conflicts and quota too, and tells them apart only by undocumented text. */
function faultOf({ name, status, text }: Refusal): Fault | undefined {
  if (status !== 422) return undefined
  // A DELETE can only come at the wrong time: the block is still assigned to a machine.
  if (name === 'release') return 'conflict'
  // So it is with an assignment, which the API may still be making or deleting.
  if (name === 'unassign') return 'conflict'
  // A wrong guess does no harm: both faults are final, and people read the text itself.
  const isQuota = /quota|limit|insufficient|exceed|approv|not enough|no available/i.test(text ?? '')
  return name === 'reserve' && isQuota ? 'quota' : 'invalid'
}
