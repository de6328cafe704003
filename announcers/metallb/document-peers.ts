import { isDeepStrictEqual } from 'node:util'
import { countingLabel, countingLabels } from './ownership.ts'
import type { Session } from '../shared/sessions.ts'
import { type JsonObject, isJsonObject } from '../../lib/json.ts'
import type { ListChange } from './yaml-lists.ts'

/** The Services for which peers exist, in order, and the domain of the labels by which peers count them. */
export type CountedServices = { counting: string; services: readonly string[] }

/** Each selector takes 130 bytes of a ConfigMap, which holds 1 MiB and is parsed on every change. */
const maxCountingSelectors = 1_000

/**
 * The change that leaves one peer for each session. Each peer has selectors that match no node: predecessors count
 * Services with them, and we recognize our peers by them. A peer keeps its selectors whatever Services come and go,
 * because MetalLB closes a session when they change. Fields that a person added to one of our peers stay, except a
 * password. A person's own peer for the same session stays too, and replaces ours.
 */
export function peerChange(
  items: readonly unknown[],
  sessions: readonly Session[],
  counted: CountedServices,
): ListChange {
  const missing = new Map(sessions.map((session) => [placeOf(session.hostname, session.router.text), session]))
  for (const item of items) if (!isOurs(item)) missing.delete(placeIn(item))
  const selectors = countingSelectors(counted, missing.size)
  const drop = new Set<number>()
  const alter = new Map<number, JsonObject>()
  for (const [at, item] of items.entries()) {
    if (!isJsonObject(item) || !isOurs(item)) continue
    const session = missing.get(placeIn(item))
    missing.delete(placeIn(item))
    if (!session) drop.add(at)
    else {
      const counting = isOneNodes(item) ? { 'node-selectors': item['node-selectors'] } : {}
      const wanted = { ...('password' in item && { password: '' }), ...fieldsOf(session, selectors), ...counting }
      const differing = Object.entries(wanted).filter(([name, value]) => !isDeepStrictEqual(item[name], value))
      if (differing.length > 0) alter.set(at, Object.fromEntries(differing))
    }
  }
  const add = [...missing.values()].map((session) => ({ ...fieldsOf(session, selectors), 'hold-time': '30s' }))
  return { drop, alter, add }
}

/** Our peer that a predecessor would write differently, and the fields that it would write. */
export type Miscounted = { at: number; hostname: string; router: string; fields: JsonObject }

/** The Services that a predecessor counts; undefined if its version counts none. */
export type PredecessorCounts = Pick<CountedServices, 'counting'> & { services: readonly string[] | undefined }

/**
 * Our peers that a predecessor would write differently. It would change the counts of all at once. A version that
 * counts none would add a second peer, because it compares all selectors and all fields that it knows.
 */
export function miscountedPeers(
  items: readonly unknown[],
  { counting: domain, services }: PredecessorCounts,
): Miscounted[] {
  const ours = items.flatMap((item, at) =>
    isJsonObject(item) && isOurs(item) && isOneNodes(item) ? [{ item, at }] : [],
  )
  const counting = countingSelectors({ counting: domain, services: services ?? [] }, ours.length)
  // Such a version may refuse the whole document if a peer has a field that it does not know.
  const others = services === undefined ? { 'hold-time': '', 'source-address': undefined } : {}
  return ours.flatMap(({ item, at }) => {
    const [hostname = ''] = hostnamesIn(item)
    const counts = labelsIn(item).filter(isCount)
    // The order of selectors does not matter to a predecessor.
    const isRight =
      counts.length === counting.length &&
      counting.every((one) => counts.some((labels) => isDeepStrictEqual(labels, one['match-labels'])))
    const fields = { ...others, 'node-selectors': [{ 'match-labels': { [hostnameLabel]: hostname } }, ...counting] }
    return isRight ? [] : [{ at, hostname, router: String(item['peer-address']), fields }]
  })
}

/** Omits ebgp-multihop, because MetalLB 0.11 does not know it and refuses a document with an unknown field. */
function fieldsOf(session: Session, counting: readonly JsonObject[]): JsonObject {
  const { hostname, localAsn, peerAsn, router, source, password } = session
  return {
    'my-asn': localAsn,
    'peer-asn': peerAsn,
    'peer-address': router.text,
    'source-address': source.text,
    // In plain text, because these versions of MetalLB cannot read a Secret.
    ...(password === undefined ? {} : { password }),
    'node-selectors': [{ 'match-labels': { [hostnameLabel]: hostname } }, ...counting],
  }
}

const hostnameLabel = 'kubernetes.io/hostname'

function countingSelectors({ counting, services }: CountedServices, peers: number): JsonObject[] {
  const some = services.length * peers > maxCountingSelectors ? services.slice(0, 1) : services
  return some.map((service) => ({ 'match-labels': countingLabels(counting, service) }))
}

function isOurs(item: unknown): boolean {
  return labelsIn(item).some(isCount)
}

function isCount(labels: JsonObject): boolean {
  return Object.keys(labels).some((name) => countingLabel.test(name))
}

/** Whether a peer is for one node, and selects nothing else. */
function isOneNodes(item: unknown): boolean {
  const others = labelsIn(item).filter((labels) => !isDeepStrictEqual(Object.keys(labels), [hostnameLabel]))
  return hostnamesIn(item).length === 1 && others.every(isCount)
}

function placeOf(hostname: string, router: string): string {
  return `${router} ${hostname}`
}

/** The key of an item's router and node; matches no session if the item does not name exactly one node. */
function placeIn(item: unknown): string {
  const router = isJsonObject(item) ? item['peer-address'] : ''
  return placeOf(hostnamesIn(item).join(), String(router))
}

function hostnamesIn(item: unknown): string[] {
  return labelsIn(item).flatMap((labels) => (hostnameLabel in labels ? [String(labels[hostnameLabel])] : []))
}

function labelsIn(item: unknown): JsonObject[] {
  const selectors = isJsonObject(item) ? item['node-selectors'] : []
  if (!Array.isArray(selectors)) return []
  return selectors
    .map((selector: unknown) => (isJsonObject(selector) ? selector['match-labels'] : {}))
    .filter(isJsonObject)
}
