import { isDeepStrictEqual } from 'node:util'
import { countingLabel } from './ownership.ts'
import type { Session } from './sessions.ts'
import { type JsonObject, isJsonObject } from '../../lib/json.ts'
import type { ListChange } from './yaml-lists.ts'

/** The Services that peers are there for, in order, and the domain of the labels by which peers count them. */
type Counted = { counting: string; services: readonly string[] }

/** Each takes 130 bytes of a ConfigMap, which holds a mebibyte and is parsed at every look, here and by MetalLB. */
const maxCounted = 1_000

/**
 * What has to change so that there is a peer for each session, with a selector for each Service that matches no node: a
 * predecessor counts with them, and by them a peer is known as ours. What a person added to one of ours stays, and a peer
 * of a person's for the same session is left to do its work.
 */
export function peerChange(items: readonly unknown[], sessions: readonly Session[], counted: Counted): ListChange {
  const due = new Map(sessions.map((session) => [placeOf(session.hostname, session.router.text), session]))
  for (const item of items) if (!isOurs(item)) due.delete(placeIn(item))
  const selectors = counters(counted, due.size)
  const drop = new Set<number>()
  const alter = new Map<number, JsonObject>()
  for (const [at, item] of items.entries()) {
    if (!isJsonObject(item) || !isOurs(item)) continue
    const session = due.get(placeIn(item))
    due.delete(placeIn(item))
    if (!session) drop.add(at)
    else {
      const wanted = { ...('password' in item ? { password: '' } : {}), ...fieldsOf(session, selectors) }
      const differing = Object.entries(wanted).filter(([name, value]) => !isDeepStrictEqual(item[name], value))
      if (differing.length > 0) alter.set(at, Object.fromEntries(differing))
    }
  }
  const add = [...due.values()].map((session) => ({ ...fieldsOf(session, selectors), 'hold-time': '30s' }))
  return { drop, alter, add }
}

/** No ebgp-multihop: MetalLB 0.11 does not know it, and takes nothing at all of a document with a word it does not know. */
function fieldsOf(session: Session, counting: readonly JsonObject[]): JsonObject {
  const { hostname, localAsn, peerAsn, router, source, password } = session
  return {
    'my-asn': localAsn,
    'peer-asn': peerAsn,
    'peer-address': router.text,
    'source-address': source.text,
    // In plain text: this generation of MetalLB knows no Secret for it.
    ...(password === undefined ? {} : { password }),
    'node-selectors': [{ 'match-labels': { [hostnameLabel]: hostname } }, ...counting],
  }
}

const hostnameLabel = 'kubernetes.io/hostname'

function counters({ counting, services }: Counted, peers: number): JsonObject[] {
  const some = services.length * peers > maxCounted ? services.slice(0, 1) : services
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

/** Whom an item connects with which node; nothing sensible where it is not for a single one. */
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
