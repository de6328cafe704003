import type { Cloud } from './cloud.ts'
import type { Machines } from './machines.ts'
import type { Peering } from './peering.ts'

/** All that one vendor's client does: addresses, machines and, where the vendor speaks it with them, BGP. */
export type Vendor = Cloud & Machines & { readonly peering?: Peering }
