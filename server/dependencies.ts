import { type MachineList, machineList } from '../controllers/nodes/machine-list.ts'
import { type PeerFacts, peerFacts } from '../controllers/peering/peer-facts.ts'
import type { Service } from '../kube/objects.ts'
import { type Want, want } from '../ledger/want/want.ts'
import type { Context } from './context.ts'
import { readLedger } from '../telemetry/metrics/ledger.ts'
import { type KnownLocations, knownLocations } from '../ledger/own/known-locations.ts'
import { type Ledger, makeLedger } from '../ledger/ledger.ts'
import { type Caches, makeCaches } from '../ledger/caches.ts'
import { type ClusterNetworks, clusterNetworks } from '../ledger/own/cluster-networks.ts'
import { type OwnAddresses, ownAddresses } from '../ledger/own/own-addresses.ts'

/** What webhooks and controllers share. */
export type Dependencies = Context & {
  caches: Caches
  locations: KnownLocations
  networks: ClusterNetworks
  ownAddresses: OwnAddresses
  want: (service: Service) => Want
  ledger: Ledger
  machines: MachineList
  peerFacts: PeerFacts
}

/** Makes what webhooks and controllers share; nothing runs yet. */
export function makeDependencies(context: Context): Dependencies {
  const { client, vendor, log } = context
  const caches = makeCaches(context)
  const locations = knownLocations({ cloud: vendor.cloud, log, sources: vendor.policy.locationSources })
  const now = () => performance.now()
  const networks = clusterNetworks({ client, caches, log, now })
  const own = ownAddresses({ ...context, caches, networks })
  const wantOf = (service: Service) => own.check(want(service, vendor.policy, locations.current()), service)
  readLedger({ ...context, caches })
  const machines = machineList({ machines: vendor.machines, now })
  return {
    ...context,
    machines,
    peerFacts: peerFacts(),
    caches,
    locations,
    networks,
    ownAddresses: own,
    want: wantOf,
    ledger: makeLedger({ ...context, want: wantOf, caches }),
  }
}
