import { type Service, keyOf } from '../../../kube/objects.ts'
import { isInRanges } from '../../../lib/ip-address.ts'
import { parseAddress, prefixOf } from '../../shared/address.ts'
import { compareTexts } from '../../shared/order.ts'
import { metallbSharingAnnotations } from '../names.ts'
import { isWritten } from '../../shared/own-objects.ts'
import { poolNameOf, serviceLabel } from '../pool-names.ts'
import type { IPAddressPool } from '../resources.ts'

export type PoolFacts = {
  namespace: string
  /** The Services that the predecessor will serve, with an address in spec. */
  services: readonly Service[]
  /** The labels of the predecessor's objects. */
  labels: Record<string, string>
  /** The names of the pools that it wrote. */
  found: ReadonlySet<string>
  /** Other people's pools: addresses in them need no pool. */
  foreign: readonly IPAddressPool[]
}

/** A pool that must exist, and the name of our pool that it replaces. */
export type WantedPool = { pool: IPAddressPool; replaces?: string; isThere: boolean }

/**
 * The pools under the names by which the predecessor finds them. With another name, the predecessor would refuse a
 * Service whose address is in our pool, or would never remove the pool.
 */
export function predecessorPools(ours: readonly IPAddressPool[], facts: PoolFacts): WantedPool[] {
  const usersOf = usersFinder(facts.services)
  const isNamedAsTheirs = ({ metadata, spec }: IPAddressPool) =>
    facts.found.has(metadata.name) || usersOf(spec.addresses).some((one) => poolNameOf(keyOf(one)) === metadata.name)
  const kept = ours.filter((pool) => !isWritten(pool) || isNamedAsTheirs(pool))
  const taken = new Set([...kept, ...facts.foreign].map(({ metadata }) => metadata.name))
  // A pool whose addresses another one holds is left over: an undo was killed after it had renamed the pool.
  const held = new Set(kept.flatMap(({ spec }) => spec.addresses))
  const others = ours.filter((pool) => !kept.includes(pool) && !pool.spec.addresses.every((one) => held.has(one)))
  const renamed = others.flatMap((pool) => {
    const { addresses } = pool.spec
    return toWanted(usersOf(addresses), { facts, taken, addresses, replaces: pool.metadata.name })
  })
  const served = new Set([...ours, ...facts.foreign].flatMap(({ spec }) => usersOf(spec.addresses)))
  const lacking = facts.services.filter((service) => !served.has(service))
  const byPrefix = Map.groupBy(lacking, ({ spec }) => prefixText(spec.loadBalancerIP))
  const added = [...byPrefix].flatMap(([prefix, users]) =>
    prefix === undefined ? [] : toWanted(users, { facts, taken, addresses: [prefix] }),
  )
  const counted = kept.map((pool) =>
    facts.found.has(pool.metadata.name) ? pool : countedIn(pool, usersOf(pool.spec.addresses)),
  )
  return [...counted.map((pool) => ({ pool, isThere: true })), ...renamed, ...added]
}

/** A pool that we wrote under the predecessor's name, with the labels and annotations that count its Services. */
function countedIn(pool: IPAddressPool, users: readonly Service[]): IPAddressPool {
  if (!isWritten(pool)) return pool
  const { metadata } = pool
  const labels = { ...metadata.labels, ...serviceLabels(users) }
  const { annotations } = sharedAnnotations(inOrder(users))
  return openToAll({ ...pool, metadata: { ...metadata, labels, ...(annotations && { annotations }) } })
}

/** Opens a pool to all namespaces, because the predecessor adds Services of any namespace. */
function openToAll({ spec, ...pool }: IPAddressPool): IPAddressPool {
  return { ...pool, spec: { ...spec, ...(spec.serviceAllocation && { serviceAllocation: null }) } }
}

function inOrder(users: readonly Service[]): Service[] {
  return users.toSorted((one, other) => compareTexts(keyOf(one), keyOf(other)))
}

type Making = { facts: PoolFacts; taken: Set<string>; addresses: string[]; replaces?: string }

function toWanted(users: readonly Service[], { facts, taken, addresses, replaces }: Making): WantedPool[] {
  const ordered = inOrder(users)
  const [first] = ordered
  if (!first) return []
  const named = poolNameOf(keyOf(first))
  // The name is taken if a Service has two addresses: the predecessor has one pool for each Service.
  const name = taken.has(named) && replaces !== undefined ? replaces : named
  taken.add(name)
  const pool: IPAddressPool = {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'IPAddressPool',
    metadata: {
      name,
      namespace: facts.namespace,
      labels: { ...facts.labels, ...serviceLabels(ordered) },
      ...sharedAnnotations(ordered),
    },
    spec: { addresses, autoAssign: false, ...(name === replaces && { serviceAllocation: null }) },
  }
  return [{ pool, isThere: name === replaces, ...(replaces !== undefined && name !== replaces && { replaces }) }]
}

function serviceLabels(users: readonly Service[]): Record<string, string> {
  return Object.assign({}, ...users.map((user) => serviceLabel(keyOf(user))))
}

/** The annotations with which the predecessor, from 3.8 on, counts the Services that share a pool's address. */
function sharedAnnotations(users: readonly Service[]): { annotations?: Record<string, string> } {
  const keys = users.flatMap((service) => {
    const key = metallbSharingAnnotations
      .map((name) => service.metadata.annotations?.[name])
      .find((one) => one !== undefined)
    return key !== undefined && /^[A-Za-z0-9]([-\w.]{0,54}[A-Za-z0-9])?$/.test(key) ? [{ key, service }] : []
  })
  if (keys.length === 0) return {}
  const byKey = Map.groupBy(keys, ({ key }) => `shared-${key}`)
  const text = (all: typeof keys) => all.map(({ service }) => keyOf(service).replace('/', '.')).join()
  return { annotations: Object.fromEntries([...byKey].map(([name, all]) => [name, text(all)])) }
}

/** Finds the Services with an address in given ranges. Most pools hold one address, for which a lookup suffices. */
function usersFinder(services: readonly Service[]): (addresses: readonly string[]) => Service[] {
  const placed = services.flatMap((service) => {
    const address = parseAddress(service.spec.loadBalancerIP ?? '')
    return address ? [{ service, address, prefix: prefixOf(address) }] : []
  })
  const byPrefix = Map.groupBy(placed, ({ prefix }) => prefix)
  return (addresses) => {
    const [only = '', ...more] = addresses
    const found =
      more.length === 0 && /\/(32|128)$/.test(only)
        ? (byPrefix.get(only) ?? [])
        : placed.filter(({ address }) => isInRanges(address, addresses))
    return found.map(({ service }) => service)
  }
}

function prefixText(text: string | undefined): string | undefined {
  const address = parseAddress(text ?? '')
  return address && prefixOf(address)
}
