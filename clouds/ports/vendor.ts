import type { Assignments } from './assignments.ts'
import type { Cloud } from './cloud.ts'
import type { Machines } from './machines.ts'
import type { Peering } from './peering.ts'

/** Everything that one vendor's client does: addresses, machines and, if the vendor offers them, BGP and assignments. */
export type Vendor = Cloud & Machines & { readonly peering?: Peering; readonly assignments?: Assignments }

/** A vendor that offers both. */
export type WholeVendor = Vendor & Required<Pick<Vendor, 'peering' | 'assignments'>>
