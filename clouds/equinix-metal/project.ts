import { CloudError } from '../cloud.ts'
import type { VendorHttp } from '../http.ts'

/** A project, and the door to it. */
export type Project = { http: VendorHttp; id: string }

/** What to look at when a call about the project itself is refused. */
export const projectHints = { invalid: 'check the project id' }

/** An answer that came, and does not say what it was asked for. */
export function unreadable(call: string, what: string, outcome: CloudError['outcome'] = 'nothing'): CloudError {
  return new CloudError(`Equinix Metal answered "${call}" with ${what}`, { fault: 'unavailable', outcome })
}
