import type { Announced, Announcements, DocumentConfiguration, Problem } from '../announcer.ts'
import { type ShownAddress, parseAddress, prefixOf, problemsOf } from '../shared/address.ts'
import { type Miscounted, type PredecessorCounts, miscountedPeers, peerChange } from './document-peers.ts'
import { distinct, distinctProblems } from '../shared/order.ts'
import { possibleSessions } from '../shared/sessions.ts'
import { frrAlone } from './peers.ts'
import { type ListChange, type Yaml, changeLists, listOf, readYaml } from './yaml-lists.ts'
import { isInRanges } from '../../lib/ip-address.ts'
import { metallbAddresses, poolConflict } from './pools.ts'
import { type JsonObject, isJsonObject } from '../../lib/json.ts'

export type DocumentOptions = {
  namespace: string
  name: string
  /** The domain of labels that no node has, with which a peer counts its Services. */
  counting: string
}

/** Configures MetalLB up to 0.12 by a ConfigMap that operators edit too. */
export function metallbDocument({ namespace, name, counting }: DocumentOptions): DocumentConfiguration {
  const at = { namespace, name, key: 'config' }
  return {
    kind: 'document',
    at,
    edit: (document, state) => withLocation(at, () => edit(document, state, counting)),
    withdraw: (document, state) => withLocation(at, () => withdraw(document, state)),
    hasAddress: (document, text) =>
      withLocation(at, () => {
        const address = parseAddress(text)
        return address !== undefined && poolsIn(readYaml(document)).has(prefixOf(address))
      }),
  }
}

function edit(text: string, state: Announcements, counting: string): ReturnType<DocumentConfiguration['edit']> {
  const yaml = readYaml(text)
  const pooled = poolsIn(yaml)
  // Undecided addresses with a pool are announced already, so they stay.
  const undecided = (state.undecided ?? []).filter((one) => prefixesOf([one]).some((prefix) => pooled.has(prefix)))
  const { shown, problems } = metallbAddresses([...state.addresses, ...undecided], ['ipv4'])
  const ofServices = shown.filter(({ services }) => services.length > 0)
  const pools = poolChange(listOf(yaml, 'address-pools'), ofServices)
  const services = distinct(ofServices.flatMap((one) => one.services))
  const { sessions, problems: sessionProblems } = possibleSessions(services.length > 0 ? state.nodes : [], {
    possible: ['ipv4'],
    otherwise: frrAlone,
  })
  const peers = peerChange(listOf(yaml, 'peers'), sessions, { counting, services })
  return {
    document: changeLists(yaml, { peers, 'address-pools': pools.change }),
    problems: distinctProblems([...problems, ...pools.problems, ...sessionProblems]),
  }
}

function withdraw(text: string, { addresses, undecided = [] }: Announcements): string {
  const yaml = readYaml(text)
  const stays = new Set(prefixesOf([...addresses, ...undecided]))
  const key = 'address-pools'
  const isGone = (item: unknown) => isPoolOfOurs(item) && !stays.has(item.addresses[0])
  const drop = new Set(listOf(yaml, key).flatMap((item, at) => (isGone(item) ? [at] : [])))
  return changeLists(yaml, { [key]: { drop, alter: new Map(), add: [] } })
}

/**
 * Our peers that a predecessor would write differently. `correct` returns the document with the chosen ones corrected.
 */
export type Recount = { peers: Miscounted[]; correct: (chosen: readonly Miscounted[]) => string }

/** Compares a document's peers with those that a predecessor would write. */
export function recount(text: string, counted: PredecessorCounts): Recount {
  const yaml = readYaml(text)
  return {
    peers: miscountedPeers(listOf(yaml, 'peers'), counted),
    correct(chosen) {
      const alter = new Map(chosen.map(({ at, fields }) => [at, fields]))
      return changeLists(yaml, { peers: { drop: new Set(), alter, add: [] } })
    },
  }
}

function poolsIn(yaml: Yaml): Set<string> {
  return new Set(
    listOf(yaml, 'address-pools')
      .filter(isPoolOfOurs)
      .flatMap(({ addresses }) => addresses),
  )
}

function prefixesOf(announced: readonly Announced[]): string[] {
  return announced.flatMap(({ address: shown }) => {
    const address = parseAddress(shown)
    return address ? [prefixOf(address)] : []
  })
}

/** Adds the document's location to an error. No message quotes the document, because it holds passwords. */
function withLocation<T>({ namespace, name, key }: DocumentConfiguration['at'], read: () => T): T {
  try {
    return read()
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'the document cannot be read'
    const fix = `kubectl -n ${namespace} edit configmap ${name}`
    throw new Error(`ConfigMap ${namespace}/${name}, ${key}: ${problem}. Nothing was written; fix it with ${fix}`, {
      cause: error,
    })
  }
}

/** Namespaces and names of Services, with the address if these are not unique. */
const ourName = /^[-a-z0-9]+\/[-a-z0-9]+(\/[0-9.]+)?(,[-a-z0-9]+\/[-a-z0-9]+(\/[0-9.]+)?)*$/

/** Whether an item of `address-pools` looks like a pool that we or predecessors write for Services. */
function isPoolOfOurs(item: unknown): item is JsonObject & { name: string; addresses: [string] } {
  if (!isJsonObject(item) || item['protocol'] !== 'bgp' || item['auto-assign'] !== false) return false
  const { name, addresses } = item
  const isOfOne = Array.isArray(addresses) && addresses.length === 1 && String(addresses[0]).endsWith('/32')
  return isOfOne && typeof name === 'string' && ourName.test(name)
}

/**
 * The change that leaves one pool for each address. MetalLB refuses the whole document if two pools overlap or share a
 * name. So an address in a foreign pool stays there, and the address is appended to a name that is taken.
 */
function poolChange(
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
    return pool ? problemsOf([one], poolConflict(one.address.text, `pool ${String(pool['name'])}`)) : []
  })
  return { change: { drop, alter, add }, problems }
}

/**
 * Prefixes and the names of their pools. Without the address in a name, two pools of a Service with two addresses would
 * share it.
 */
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
