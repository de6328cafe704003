import type { Service } from '../kube/objects.ts'
import type { Caches } from '../ledger/caches.ts'
import type { Context } from '../ledger/context.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { ClusterNetworks } from '../ledger/own/cluster-networks.ts'
import type { KnownLocations } from '../ledger/own/known-locations.ts'
import type { OwnAddresses } from '../ledger/own/own-addresses.ts'
import type { Want } from '../ledger/want/want.ts'
import type { Activity } from '../telemetry/activity.ts'
import type { MachineList } from './facts/machine-list.ts'
import type { PeerFacts } from './facts/peer-facts.ts'

/** The parts that declarations of controllers use. The webhooks use the same caches and the same ledger. */
export type Dependencies = Context & {
  activity: Activity
  caches: Caches
  locations: KnownLocations
  networks: ClusterNetworks
  ownAddresses: OwnAddresses
  want: (service: Service) => Want
  ledger: Ledger
  machines: MachineList
  peerFacts: PeerFacts
}
