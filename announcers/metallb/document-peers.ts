import { isDeepStrictEqual } from 'node:util'
import { countingLabel } from './ownership.ts'
import type { Session } from '../shared/sessions.ts'
import { type JsonObject, isJsonObject } from '../../lib/json.ts'
import type { ListChange } from './yaml-splices.ts'

/** The Services for which peers exist, in order, and the domain of the labels by which peers count them. */
type CountedServices = { counting: string; services: readonly string[] }

/** Each selector takes 130 bytes of a ConfigMap, which holds one mebibyte. We and MetalLB parse it at every change. */
const maxCountingSelectors = 1_000

/**
 * The change that leaves one peer for each session. Each peer has a selector for each Service that matches no node:
 * predecessors count Services with these selectors, and we recognize our peers by them. Fields that a person added to one
 * of our peers stay. A person's own peer for the same session stays too, and we write none beside it.
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
      const wanted = { ...('password' in item ? { password: '' } : {}), ...fieldsOf(session, selectors) }
      const differing = Object.entries(wanted).filter(([name, value]) => !isDeepStrictEqual(item[name], value))
      if (differing.length > 0) alter.set(at, Object.fromEntries(differing))
    }
  }
  const add = [...missing.values()].map((session) => ({ ...fieldsOf(session, selectors), 'hold-time': '30s' }))
  return { drop, alter, add }
}

/** Without ebgp-multihop: MetalLB 0.11 does not know it, and refuses a whole document with one unknown field. */
function fieldsOf(session: Session, counting: readonly JsonObject[]): JsonObject {
  const { hostname, localAsn, peerAsn, router, source, password } = session
  return {
    'my-asn': localAsn,
    'peer-asn': peerAsn,
    'peer-address': router.text,
    'source-address': source.text,
    // In plain text: these versions of MetalLB cannot read a Secret.
    ...(password === undefined ? {} : { password }),
    'node-selectors': [{ 'match-labels': { [hostnameLabel]: hostname } }, ...counting],
  }
}

const hostnameLabel = 'kubernetes.io/hostname'

function countingSelectors({ counting, services }: CountedServices, peers: number): JsonObject[] {
  const some = services.length * peers > maxCountingSelectors ? services.slice(0, 1) : services
  return some.map((service) => {
    const [namespace, name] = service.split('/')
    return { 'match-labels': { [`${counting}/service-name`]: name, [`${counting}/service-namespace`]: namespace } }
  })
}

function isOurs(item: unknown): boolean {
  return labelsIn(item).some((labels) => Object.keys(labels).some((name) => countingLabel.test(name)))
}

function placeOf(hostname: string, router: string): string {
  return `${router} ${hostname}`
}

/** The router and node that an item connects; matches no session if the item is not for exactly one node. */
function placeIn(item: unknown): string {
  const hostnames = labelsIn(item).flatMap((labels) => labels[hostnameLabel] ?? [])
  const router = isJsonObject(item) ? item['peer-address'] : ''
  return placeOf(hostnames.map(String).join(), String(router))
}

function labelsIn(item: unknown): JsonObject[] {
  const selectors = isJsonObject(item) ? item['node-selectors'] : []
  if (!Array.isArray(selectors)) return []
  return selectors
    .map((selector: unknown) => (isJsonObject(selector) ? selector['match-labels'] : {}))
    .filter(isJsonObject)
}
