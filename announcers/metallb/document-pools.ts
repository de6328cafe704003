import type { Problem } from '../announcer.ts'
import { isInRanges } from '../../lib/ip-address.ts'
import { prefixOf } from '../shared/address.ts'
import type { ShownAddress } from './addresses.ts'
import { poolConflict } from './pools.ts'
import { type JsonObject, isJsonObject } from '../../lib/json.ts'
import type { ListChange } from './yaml-splices.ts'

type Pool = JsonObject & { name: string; addresses: [string] }

/** Namespace and name of one or several Services, with the address where that is not unique. */
const ourName = /^[-a-z0-9]+\/[-a-z0-9]+(\/[0-9.]+)?(,[-a-z0-9]+\/[-a-z0-9]+(\/[0-9.]+)?)*$/

/** Whether an item of `address-pools` has the form that we and predecessors give to pools for Services. */
export function isPoolOfOurs(item: unknown): item is Pool {
  if (!isJsonObject(item) || item['protocol'] !== 'bgp' || item['auto-assign'] !== false) return false
  const { name, addresses } = item
  const isOfOne = Array.isArray(addresses) && addresses.length === 1 && String(addresses[0]).endsWith('/32')
  return isOfOne && typeof name === 'string' && ourName.test(name)
}

/**
 * The change that leaves one pool for each address. MetalLB refuses the whole document if two pools overlap or share a
 * name. So an address in a foreign pool stays there, and a name that is taken gets the address appended.
 */
export function poolChange(
  items: readonly unknown[],
  shown: readonly ShownAddress[],
): { change: ListChange; problems: Problem[] } {
  const foreign = items.filter((item) => !isPoolOfOurs(item)).filter(isJsonObject)
  const holder = ({ address }: ShownAddress) => foreign.find(({ addresses }) => isInRanges(address, textsOf(addresses)))
  const missing = new Map(
    named(
      shown.filter((one) => !holder(one)),
      foreign,
    ),
  )
  const drop = new Set<number>()
  const alter = new Map<number, JsonObject>()
  for (const [at, item] of items.entries()) {
    if (!isPoolOfOurs(item)) continue
    const [prefix] = item.addresses
    const name = missing.get(prefix)
    if (name === undefined) drop.add(at)
    else if (name !== item.name) alter.set(at, { name })
    missing.delete(prefix)
  }
  const add = [...missing].map(([prefix, name]) => ({
    name,
    protocol: 'bgp',
    addresses: [prefix],
    'auto-assign': false,
  }))
  const problems = shown.flatMap((one) => {
    const pool = holder(one)
    const message = poolConflict(one.address.text, `pool ${String(pool?.['name'])}`)
    return pool ? one.services.map((service) => ({ subject: { service }, message })) : []
  })
  return { change: { drop, alter, add }, problems }
}

/** Prefixes and the names of their pools. A Service with two addresses would give two pools the same name. */
function named(shown: readonly ShownAddress[], foreign: readonly JsonObject[]): [prefix: string, name: string][] {
  const taken = new Set(foreign.map(({ name }) => name))
  return shown.map(({ address, services }) => {
    const name = services.join(',')
    const free = taken.has(name) ? services.map((service) => `${service}/${address.text}`).join(',') : name
    taken.add(free)
    return [prefixOf(address), free]
  })
}

function textsOf(addresses: unknown): string[] {
  return Array.isArray(addresses) ? addresses.filter((one) => typeof one === 'string') : []
}
