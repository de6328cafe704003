// Users who let Services of one namespace share an address, and delete any of them.
import * as assert from 'uvu/assert'
import { type Service, ingressOf, keyOf } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { parseIpAddress } from '../../lib/ip-address.ts'
import { statusAddresses } from '../../ledger/record/address-use.ts'
import { secondKeys } from '../../ledger/record/elastic-ip.ts'
import { serviceFinalizer } from '../../ledger/record/names.ts'
import { makeService } from '../builders.ts'
import { type Move, type Walk, lead, one } from './walk-moves.ts'

const sharers = ['twin', 'other']
const sharerKeys = sharers.map((name) => `default/${name}`)
/** The keys of every address that they may have. */
export const sharedAddressKeys = sharerKeys.flatMap((key) => [key, ...secondKeys(key)])

/** Deeds of users with Services that share an address. */
export const sharingMoves: Move[] = [
  {
    weight: 12,
    move: (walk) => {
      const { harness, log } = walk
      const name = one(walk, sharers)
      const shown = one(walk, harness.api.stored(services).filter(isOurs).flatMap(ingressOf))?.ip
      if (shown === undefined || find(walk, name)) return
      log.push(`a user lets Service ${name} share ${shown}`)
      const family = parseIpAddress(shown)?.family === 'ipv6' ? ('IPv6' as const) : ('IPv4' as const)
      const facts = { name, uid: `${name}-${log.length}`, loadBalancerIP: shown, ipFamilies: [family] }
      harness.addService(makeService({ ...facts, finalizers: [serviceFinalizer] }))
    },
  },
  {
    weight: 2,
    move: async (walk) => {
      const name = one(walk, sharers)
      walk.log.push(`a user deletes Service ${name}`)
      await walk.harness.api.client.remove(services, { namespace: 'default', name })
    },
  },
  {
    weight: 12,
    move: (walk) => {
      const key = one(walk, sharerKeys)
      lead(walk, key, () => walk.leader.reconcile(key))
    },
  },
]

function isOurs({ spec }: Service): boolean {
  return spec.loadBalancerClass === undefined
}

function find({ harness }: Walk, name: string): Service | undefined {
  return harness.api.stored(services).find((service) => keyOf(service) === `default/${name}`)
}

/** The reservations that were paid at the last look, and the addresses that were shown. */
const before = new WeakMap<Walk, { paid: Map<string, string>; shown: Set<string> }>()

/** No reservation is released whose address a Service shows, before and after. */
export function announcesWhatIsPaid(walk: Walk): void {
  const { api, cloud } = walk.harness
  const live = api.stored(services).filter((service) => isOurs(service) && !service.metadata.deletionTimestamp)
  const shown = new Set(live.flatMap(statusAddresses))
  const paid = new Map(cloud.reserved().map(({ id, address = '' }) => [id, address]))
  const last = before.get(walk)
  // A cloud that granted an address twice has another reservation of it.
  const others = new Set(paid.values())
  for (const [id, address] of last?.paid ?? [])
    if (!paid.has(id) && cloud.released.includes(id) && !others.has(address))
      assert.not(last?.shown.has(address) && shown.has(address), `${id} (${address}) was released while it was shown`)
  before.set(walk, { paid, shown })
}
