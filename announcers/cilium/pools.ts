import type { Announcements, Problem, WantedObject } from '../announcer.ts'
import { type Key, type KubeObject, splitKey } from '../../kube/objects.ts'
import { type IpAddress, isInRanges } from '../../lib/ip-address.ts'
import { type ShownAddress, nameOf, parseAddress, prefixOf, servicesOf } from '../shared/address.ts'
import { compareTexts, distinct } from '../shared/order.ts'
import { isWritten, ownLabels, ownName } from '../shared/own-objects.ts'
import type { LabelSelector } from '../../lib/label-selector.ts'
import { type LoadBalancerIPPool, apiVersion, isPool } from './resources.ts'

/** The name of an address's pool; undefined if the text is not an address. */
export function poolName(text: string): string | undefined {
  const address = parseAddress(text)
  return address && `${ownName}-${nameOf(address)}`
}

type Pools = { wanted: WantedObject[]; problems: Problem[] }

/**
 * A pool for each address. Of two pools with a common address, Cilium disables the younger as a whole. So an address in
 * a foreign pool gets no pool, unless ours already exists: then ours is the older.
 */
export function poolsOf(shown: readonly ShownAddress[], existing: readonly KubeObject[]): Pools {
  const pools = existing.filter(isPool)
  const ours = new Set(pools.filter(isWritten).map(({ metadata }) => metadata.name))
  const wanted: WantedObject[] = []
  const problems: Problem[] = []
  for (const { address, services } of shown) {
    const name = poolName(address.text) ?? ''
    const subjects = servicesOf([{ services }])
    const foreign = pools.find((one) => !isWritten(one) && holds(one, address))
    if (foreign) problems.push(...subjects.map((subject) => ({ subject, message: overlap(address, foreign) })))
    if (foreign && !ours.has(name)) continue
    const spec = { blocks: [{ cidr: prefixOf(address) }], serviceSelector: servicesSelector(services) }
    const object: LoadBalancerIPPool = {
      apiVersion,
      kind: 'CiliumLoadBalancerIPPool',
      metadata: { name, labels: ownLabels },
      spec,
    }
    wanted.push({ object, subjects })
  }
  return { wanted, problems }
}

/**
 * Our pools for addresses that Services still show although we no longer announce them. Deleting a pool takes its
 * address from them. Deleting the last one deactivates LB IPAM, which then never clears a remaining status.
 */
export function keptPools(
  { undecided = [], leaving = [] }: Pick<Announcements, 'undecided' | 'leaving'>,
  wanted: readonly WantedObject[],
  existing: readonly KubeObject[],
): WantedObject[] {
  const written = new Set(wanted.map(({ object }) => object.metadata.name))
  const kept = new Map([...undecided, ...leaving].map((one) => [poolName(one.address), servicesOf([one])]))
  return existing
    .filter((one) => isPool(one) && isWritten(one) && !written.has(one.metadata.name) && kept.has(one.metadata.name))
    .map((object) => ({ object, subjects: kept.get(object.metadata.name) ?? [] }))
}

/** Whether an address lies in a block of a pool. */
export function holds({ spec }: LoadBalancerIPPool, address: IpAddress): boolean {
  const ranges = (spec?.blocks ?? []).map(({ cidr, start, stop }) => cidr ?? `${start}-${stop ?? start}`)
  return isInRanges(address, ranges)
}

function overlap({ text }: IpAddress, { metadata: { name } }: KubeObject): string {
  return `address ${text} lies in CiliumLoadBalancerIPPool ${name}, which eip-admission does not manage. If two pools have the same address, Cilium disables the younger one entirely. Remove ${text} from the blocks of ${name}`
}

/**
 * Selects Services by labels that Cilium itself adds, so users cannot choose our pool. If Services of several
 * namespaces share an address, it also matches the same names across those namespaces, and nothing else.
 */
function servicesSelector(services: readonly Key[]): LabelSelector {
  const parts = services.map(splitKey)
  const among = (part: 'namespace' | 'name') => ({
    key: `io.kubernetes.service.${part}`,
    operator: 'In',
    values: distinct(parts.map((one) => one[part])),
  })
  return { matchExpressions: [among('namespace'), among('name')] }
}

/** A selector for each namespace: together they select exactly these Services. */
export function exactSelectors(services: readonly Key[]): LabelSelector[] {
  const byNamespace = Map.groupBy(services, (service) => splitKey(service).namespace)
  const ordered = [...byNamespace].toSorted(([one], [other]) => compareTexts(one, other))
  return ordered.map(([, own]) => servicesSelector(own))
}
