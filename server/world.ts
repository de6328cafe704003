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
}

/** Sees the cluster and the cloud; nothing runs yet. */
export function makeWorld(ground: Ground): World {
  const { client, vendor, log } = ground
  const views = makeViews(client, log)
  const locations = knownLocations(vendor.cloud, log)
  const wants = (service: Service) => want(service, vendor.policy, locations.current())
  return { ...ground, views, locations, want: wants, ledger: makeLedger({ ...ground, want: wants }) }
}
