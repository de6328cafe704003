import { peerFacts } from '../controllers/facts/peer-facts.ts'
import { type Dependencies as ControllerDependencies, machineList } from '../controllers/dependencies.ts'
import type { Service } from '../kube/objects.ts'
import { wantsByFields } from '../ledger/want/want.ts'
import type { Context } from './context.ts'
import { readLedger } from '../ledger/ledger-metrics.ts'
import { knownLocations } from '../ledger/own/provider-lists.ts'
import { makeLedger } from '../ledger/ledger.ts'
import { makeCaches } from '../ledger/caches.ts'
import { clusterNetworks } from '../ledger/own/cluster-networks.ts'
import { ownAddresses } from '../ledger/own/own-addresses.ts'

/** The parts that webhooks and controllers share, and the rest of the process. */
export type Dependencies = Context & ControllerDependencies

/** Makes the parts that webhooks and controllers share; nothing runs yet. */
export function makeDependencies(context: Context): Dependencies {
  const { client, vendor, log, reload } = context
  const caches = makeCaches(context)
  const sources = vendor.policy.locationSources
  const locations = knownLocations({ cloud: vendor.cloud, log, sources, settings: reload })
  const now = () => performance.now()
  const networks = clusterNetworks({ client, caches, log, now })
  const own = ownAddresses({ ...context, caches, networks })
  const wantByFields = wantsByFields(vendor.policy, () => locations.current())
  const wantOf = (service: Service) => own.check(wantByFields(service), service)
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
    ledger: makeLedger({
      ...context,
      want: wantOf,
      caches,
      users: (address) => own.users(address),
      clusterNetwork: (address) => networks.of(address),
    }),
  }
}
