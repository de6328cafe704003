import type { Problem } from '../announcer.ts'
import { isInRanges } from '../../lib/ip-range.ts'
import { prefixOf } from './address.ts'
import type { Shown } from './addresses.ts'
import { type JsonObject, isJsonObject } from '../../lib/json.ts'
import type { ListChange } from './yaml-lists.ts'

type Pool = JsonObject & { name: string; addresses: [string] }

/** Namespace and name of a Service, or of several, and the address where that is not enough. */
const ourName = /^[-a-z0-9]+\/[-a-z0-9]+(\/[0-9.]+)?(,[-a-z0-9]+\/[-a-z0-9]+(\/[0-9.]+)?)*$/

/** Whether an item of `address-pools` is of the form that a predecessor and we give to those for Services. */
export function isPoolOfOurs(item: unknown): item is Pool {
  if (!isJsonObject(item) || item['protocol'] !== 'bgp' || item['auto-assign'] !== false) return false
  const { name, addresses } = item
  const isOfOne = Array.isArray(addresses) && addresses.length === 1 && String(addresses[0]).endsWith('/32')
  return isOfOne && typeof name === 'string' && ourName.test(name)
}

/**
 * What has to change so that there is a pool for each address. MetalLB takes nothing at all where two overlap or share
 * a name: an address in a pool of somebody else stays there, and a name that is taken is told apart.
 */
export function poolChange(
  items: readonly unknown[],
  shown: readonly Shown[],
): { change: ListChange; problems: Problem[] } {
  const theirs = items.filter((item) => !isPoolOfOurs(item)).filter(isJsonObject)
  const holder = ({ address }: Shown) => theirs.find(({ addresses }) => isInRanges(address, textsOf(addresses)))
  const due = new Map(
    named(
      shown.filter((one) => !holder(one)),
      theirs,
    ),
  )
  const drop = new Set<number>()
  const alter = new Map<number, JsonObject>()
  for (const [at, item] of items.entries()) {
    if (!isPoolOfOurs(item)) continue
    const [prefix] = item.addresses
    const name = due.get(prefix)
    if (name === undefined) drop.add(at)
    else if (name !== item.name) alter.set(at, { name })
    due.delete(prefix)
  }
  const add = [...due].map(([prefix, name]) => ({ name, protocol: 'bgp', addresses: [prefix], 'auto-assign': false }))
  const problems = shown.flatMap((one) => {
    const pool = holder(one)
    const message = `${one.address.text} is in pool ${String(pool?.['name'])}, which is not ours: it gets no other one`
    return pool ? one.services.map((service) => ({ concern: { service }, message })) : []
  })
  return { change: { drop, alter, add }, problems }
}

/** Prefixes and the names of their pools. A Service with two addresses would name two pools alike. */
function named(shown: readonly Shown[], theirs: readonly JsonObject[]): [prefix: string, name: string][] {
  const taken = new Set(theirs.map(({ name }) => name))
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
