import { assignmentsOf } from './assignments.ts'
import { errorText, faultOf, vendor } from './errors.ts'
import { machinesOf } from './machines.ts'
import { peeringOf } from './peering.ts'
import { reservationsOf } from './reservations.ts'
import type { ProjectOptions } from './project.ts'
import { vendorHttp, type ClientOptions } from '../http/client.ts'
import type { WholeVendor } from '../ports/cloud-provider.ts'

/** An Equinix Metal project: its addresses, its machines and their BGP. */
export function equinixMetal(options: ClientOptions & ProjectOptions & { projectId: string }): WholeVendor {
  const { apiKey, projectId, places, peerAsn, otherPeerAsn, ...tuning } = options
  const http = vendorHttp({
    ...tuning,
    vendor,
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
    name: vendor,
    ...reservationsOf(project),
    ...machinesOf(project),
    peering: peeringOf(project),
    assignments: assignmentsOf(project),
  }
}
