import { type MachineList, machineList } from '../controllers/nodes/machine-list.ts'
import { type PeerFacts, peerFacts } from '../controllers/peering/peer-facts.ts'
import type { Service } from '../kube/objects.ts'
import { type Want, want } from '../ledger/want/want.ts'
import type { Context } from './context.ts'
import { type KnownLocations, knownLocations } from './known-locations.ts'
import { type Ledger, makeLedger } from './ledger.ts'
import { type Caches, makeCaches } from './caches.ts'
import { type OwnAddresses, ownAddresses } from './own-addresses.ts'

/** What webhooks and controllers share. */
export type Dependencies = Context & {
  caches: Caches
  locations: KnownLocations
  ownAddresses: OwnAddresses
  want: (service: Service) => Want
  ledger: Ledger
  machines: MachineList
  peerFacts: PeerFacts
}

/** Makes what webhooks and controllers share; nothing runs yet. */
export function makeDependencies(context: Context): Dependencies {
  const { vendor, log } = context
  const caches = makeCaches(context)
  const locations = knownLocations({ cloud: vendor.cloud, log, sources: vendor.policy.locationSources })
  const own = ownAddresses({ ...context, caches })
  const wantOf = (service: Service) => own.check(want(service, vendor.policy, locations.current()), service)
  const machines = machineList({ machines: vendor.machines, now: () => performance.now() })
  return {
    ...context,
    machines,
    peerFacts: peerFacts(),
    caches,
    locations,
    ownAddresses: own,
    want: wantOf,
    ledger: makeLedger({ ...context, want: wantOf, caches }),
  }
}
