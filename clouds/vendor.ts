import type { Cloud } from './cloud.ts'
import type { Machines } from './machines.ts'
import type { Peering } from './peering.ts'

/** Everything that one vendor's client does: addresses, machines and, if the vendor offers it to machines, BGP. */
export type Vendor = Cloud & Machines & { readonly peering?: Peering }
