import { type MachineList, machineList } from '../controllers/nodes/machine-list.ts'
import { type PeerFacts, peerFacts } from '../controllers/peering/peer-facts.ts'
import type { Service } from '../kube/objects.ts'
import { type Want, want } from '../ledger/want.ts'
import type { Ground } from './ground.ts'
import { type KnownLocations, knownLocations } from './known-locations.ts'
import { type Ledger, makeLedger } from './ledger.ts'
import { type Views, makeViews } from './views.ts'

/** What webhooks and controllers have in common. */
export type World = Ground & {
  views: Views
  locations: KnownLocations
  want: (service: Service) => Want
  ledger: Ledger
  machines: MachineList
  peerFacts: PeerFacts
}

/** Sees the cluster and the cloud; nothing runs yet. */
export function makeWorld(ground: Ground): World {
  const { client, vendor, log } = ground
  const views = makeViews(client, log)
  const locations = knownLocations({ cloud: vendor.cloud, log, sources: vendor.policy.locationSources })
  const wants = (service: Service) => want(service, vendor.policy, locations.current())
  const machines = machineList({ machines: vendor.machines, now: () => performance.now() })
  return {
    ...ground,
    machines,
    peerFacts: peerFacts(),
    views,
    locations,
    want: wants,
    ledger: makeLedger({ ...ground, want: wants, views }),
  }
}
