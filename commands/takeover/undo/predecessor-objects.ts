import type { ObjectConfiguration, WantedObject } from '../../../announcers/announcer.ts'
import { metallbObjects } from '../../../announcers/metallb/objects.ts'
import { isCounting, isOurs, isWritten } from '../../../announcers/metallb/ownership.ts'
import { type BGPAdvertisement, isAdvertisement, isPeer, isPool } from '../../../announcers/metallb/resources.ts'
import type { KubeObject, Node, Service } from '../../../kube/objects.ts'
import { compareTexts } from '../../../announcers/shared/order.ts'
import { keyOf, splitKey } from '../../../kube/objects.ts'
import type { LabelSelector } from '../../../lib/label-selector.ts'
import { type Found, marksOf, predecessorNamed } from '../found.ts'
import { managerLabel } from './manager-label.ts'
import { predecessorPeers } from './predecessor-peers.ts'
import { type WantedPool, advertisedNames, predecessorPools } from './predecessor-pools.ts'

/** What decides which objects of MetalLB the predecessor would have. */
export type UndoFacts = {
  found: Found
  namespace: string
  /** The Services that the predecessor will serve, with an address in spec. */
  services: readonly Service[]
  nodes: readonly Node[]
  /** The password of BGP sessions, where peers refer to our Secret. */
  password: string | undefined
}

/** The pools of the predecessor among all objects of the namespace. */
export function poolsToWrite(existing: readonly KubeObject[], facts: UndoFacts): WantedPool[] {
  const { found, namespace, services } = facts
  const marks = marksOf(predecessorNamed(found.predecessor), namespace)
  const pools = existing.filter(isPool)
  return predecessorPools(
    pools.filter((pool) => isOurs(marks, pool)),
    {
      namespace,
      services,
      labels: labelsOf(facts),
      found: namesOf(found, 'IPAddressPool'),
      foreign: pools.filter((pool) => !isOurs(marks, pool)),
    },
  )
}

/** The advertisement with the names of pools, or undefined where we have none: a person's own announces them. */
export function advertisementWith(
  names: readonly string[],
  existing: readonly KubeObject[],
  { found, namespace }: UndoFacts,
): BGPAdvertisement | undefined {
  const marks = marksOf(predecessorNamed(found.predecessor), namespace)
  const stored = existing.filter(isAdvertisement).find((one) => isOurs(marks, one))
  if (!stored) return undefined
  // An empty list announces every pool, and the predecessor deletes the object with the first Service.
  return { ...stored, metadata: placeOf(stored), spec: { ipAddressPools: [...names] } }
}

/** The configuration of MetalLB as the predecessor would have it. Its objects of Services that exist stay in place. */
export function predecessorConfiguration(facts: UndoFacts): ObjectConfiguration {
  const { found, namespace } = facts
  const marks = marksOf(predecessorNamed(found.predecessor), namespace)
  const peerMode = hasSharedPeers(found) ? 'frr' : 'native'
  return {
    ...metallbObjects({ ...marks, peerMode }),
    reports: [],
    reportedProblems: () => [],
    objects: (_state, existing) => ({ wanted: wantedObjects(existing, facts), problems: [] }),
  }
}

/** Every object of MetalLB that the predecessor would have. Ours that are none of them go. */
export function wantedObjects(existing: readonly KubeObject[], facts: UndoFacts): WantedObject[] {
  const { found, services } = facts
  const marks = marksOf(predecessorNamed(found.predecessor), facts.namespace)
  const pools = poolsToWrite(existing, facts)
  const stored = existing.filter(isAdvertisement).find((one) => isOurs(marks, one))
  const known = new Set([
    ...existing.filter(isPool).map(({ metadata }) => metadata.name),
    ...pools.map(({ pool }) => pool.metadata.name),
    ...foundNames(found),
  ])
  const advertisement = stored && advertisementWith(namesIn(known, advertisedNames(stored, pools)), existing, facts)
  const peers = predecessorPeers(
    existing.filter(isPeer).filter((one) => isOurs(marks, one)),
    {
      found: (found.metallb?.objects ?? []).filter(({ kind }) => kind === 'BGPPeer'),
      nodes: facts.nodes,
      counting: countingSelectors(services, found),
      labels: labelsOf(facts),
      usual: usualStyle(found),
      password: facts.password,
    },
  )
  const objects = [
    ...(advertisement ? [unlabelled(advertisement, stored)] : []),
    ...pools.map(({ pool, isThere }) => (isThere ? unlabelled(pool, pool) : pool)),
    ...peers,
  ]
  return objects.map((object) => ({ object, subjects: [{ node: object.metadata.name }] }))
}

/** The names of pools that the predecessor's own advertisement had. */
function foundNames({ metallb }: Found): string[] {
  const found = (metallb?.objects ?? []).filter(({ kind }) => kind === 'BGPAdvertisement')
  return found.flatMap(({ spec }) => (spec['ipAddressPools'] ?? []) as string[])
}

/** Without names of pools that are gone, such as ours that got another name. All, if none were left: none means every pool. */
function namesIn(known: ReadonlySet<string>, names: readonly string[]): readonly string[] {
  const left = names.filter((name) => known.has(name))
  return left.length === 0 ? names : left
}

/** Selectors that match no node: by them the predecessor knows which Services need a peer, and when none does. */
function countingSelectors(services: readonly Service[], { predecessor }: Found): LabelSelector[] {
  const { counting } = predecessorNamed(predecessor).metallb
  return services
    .map(keyOf)
    .toSorted(compareTexts)
    .map((key) => {
      const { namespace, name } = splitKey(key)
      return { matchLabels: { [`${counting}/service-namespace`]: namespace, [`${counting}/service-name`]: name } }
    })
}

/** Cherry Servers' program writes 30 s; for the others the field is empty, which the API server shows as 0s. */
function usualStyle({ predecessor }: Found): Record<string, unknown> {
  return { holdTime: predecessor === 'cherry-servers' ? '30s' : '0s', keepaliveTime: '0s', peerPort: 179 }
}

/** Whether the predecessor had one peer for the nodes of a region, as MetalLB with FRR needs it. */
function hasSharedPeers({ metallb }: Found): boolean {
  const peers = (metallb?.objects ?? []).filter(({ kind }) => kind === 'BGPPeer')
  return peers.some(({ spec }) => {
    const selectors = (spec['nodeSelectors'] ?? []) as LabelSelector[]
    return selectors.some((one) => !isCounting(one) && 'topology.kubernetes.io/region' in (one.matchLabels ?? {}))
  })
}

function namesOf({ metallb }: Found, kind: string): Set<string> {
  return new Set((metallb?.objects ?? []).filter((one) => one.kind === kind).map(({ name }) => name))
}

function labelsOf({ found }: UndoFacts): Record<string, string> {
  const { name, value } = predecessorNamed(found.predecessor).metallb.label
  return { [name]: value }
}

/** The object without the label by which it is ours. */
function unlabelled(object: KubeObject, stored: KubeObject): KubeObject {
  if (!isWritten(stored)) return { ...object, metadata: placeOf(stored) }
  // Null removes a label; the type of stored labels knows no null.
  const labels = { ...object.metadata.labels, [managerLabel]: null } as unknown as Record<string, string>
  const { annotations } = object.metadata
  return { ...object, metadata: { ...placeOf(stored), labels, ...(annotations && { annotations }) } }
}

function placeOf({ metadata: { name, namespace = '' } }: KubeObject): { name: string; namespace: string } {
  return { name, namespace }
}
