import { CloudError } from '../cloud.ts'
import type { VendorHttp } from '../http.ts'

/** What of a project is said in words of its own time. */
export type ProjectOptions = {
  /** Where something is said to be: in a metro, or in a facility, as long as it has one. A facility is a zone, too. */
  places?: 'metros' | 'facilities' | undefined
  /** The ASN of the routers that machines speak with, where the API does not say it. */
  peerAsn?: number | undefined
}

/** A project, and the door to it. */
export type Project = ProjectOptions & { http: VendorHttp; id: string }

/** What to look at when a call about the project itself is refused. */
export const projectHints = { invalid: 'check the project id' }

/** An answer that came, and does not say what it was asked for. */
export function unreadableError(call: string, what: string, outcome: CloudError['outcome'] = 'nothing'): CloudError {
  return new CloudError(`Equinix Metal answered "${call}" with ${what}`, { fault: 'unavailable', outcome })
}
