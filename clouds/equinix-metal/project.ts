import type { VendorHttp } from '../http/client.ts'

/** Facts of a project that depend on its age. */
export type ProjectOptions = {
  /** Whether locations are metros, or facilities where a thing has one. A facility is also a region. */
  places?: 'metros' | 'facilities' | undefined
  /** The ASN of the routers, whatever the API returns. */
  peerAsn?: number | undefined
  /** The ASN of the routers, if the API does not return it. */
  otherPeerAsn?: number | undefined
}

/** A project and its HTTP client. */
export type Project = ProjectOptions & { http: VendorHttp; id: string }

/** The advice when the cloud refuses a call about the project itself. */
export const projectHints = { invalid: 'check the project id' }
