import { type KubeObject, type Node, type Service, keyOf } from '../../../kube/objects.ts'
import type { LabelSelector } from '../../../lib/label-selector.ts'
import type { ObjectConfiguration, WantedObject } from '../../announcer.ts'
import { compareTexts } from '../../shared/order.ts'
import type { AnnouncerMarks } from '../../software.ts'
import { metallbObjects } from '../objects.ts'
import { isWritten } from '../../shared/own-objects.ts'
import { type Marks, countingLabels, isCounting, isOurs, withoutOwnLabel } from '../ownership.ts'
import { type BGPAdvertisement, type BGPPeer, isAdvertisement, isPeer, isPool } from '../resources.ts'
import { predecessorPeers, regionLabel } from './peers.ts'
import { type WantedPool, predecessorPools } from './pools.ts'

/**
 * A MetalLB object that the predecessor wrote, without the parts that change with each Service, and without a password.
 */
export type FoundObject = {
  kind: string
  name: string
  labels: Record<string, string>
  annotations: Record<string, string>
  spec: Record<string, unknown>
}

/** The facts that decide which MetalLB objects the predecessor would have. */
export type PredecessorFacts = {
  marks: Marks & AnnouncerMarks
  /** Its objects when we took over. */
  found: readonly FoundObject[]
  /** The Services that it will serve, with an address in spec. */
  services: readonly Service[]
  nodes: readonly Node[]
  /** The password of BGP sessions, if peers refer to our Secret. */
  password: string | undefined
}

/** A predecessor's objects for MetalLB, all in the one namespace that MetalLB reads. */
export function foundObjects(
  objects: readonly KubeObject[],
  marks: AnnouncerMarks,
): { namespace: string; objects: FoundObject[] } | undefined {
  // Our objects from an earlier takeover do not show how the predecessor writes.
  const theirs = objects.filter(
    (one) => isOurs({ ...marks, namespace: one.metadata.namespace ?? '' }, one) && !isWritten(one),
  )
  const [first] = theirs
  if (!first) return undefined
  const namespace = first.metadata.namespace ?? ''
  return { namespace, objects: theirs.filter(({ metadata }) => metadata.namespace === namespace).map(strippedOf) }
}

function strippedOf(object: KubeObject & { spec?: object }): FoundObject {
  const { name, labels = {}, annotations = {} } = object.metadata
  // `kubectl apply` stores the whole object in this annotation, including its password.
  const { 'kubectl.kubernetes.io/last-applied-configuration': _applied, ...kept } = annotations
  const spec = isPeer(object) ? withoutSecrets(object) : { ...object.spec }
  return { kind: object.kind, name, labels, annotations: kept, spec }
}

function withoutSecrets({ spec }: BGPPeer): Record<string, unknown> {
  const { password: _password, nodeSelectors = [], ...others } = spec
  return { ...others, nodeSelectors: nodeSelectors.filter((one) => !isCounting(one)) }
}

/** The configuration of MetalLB that the predecessor would have. Its objects for existing Services stay in place. */
export function predecessorConfiguration(facts: PredecessorFacts): ObjectConfiguration {
  const peerMode = hasSharedPeers(facts) ? 'frr' : 'native'
  return {
    ...metallbObjects({ ...facts.marks, peerMode }),
    reports: [],
    reportedProblems: () => [],
    objects: (_state, existing) => ({ wanted: wantedObjects(existing, facts), problems: [] }),
  }
}

/** Every MetalLB object that the predecessor would have. Any other object of ours is removed. */
export function wantedObjects(existing: readonly KubeObject[], facts: PredecessorFacts): WantedObject[] {
  const pools = poolsToWrite(existing, facts)
  const known = new Set([
    ...existing.filter(isPool).map(({ metadata }) => metadata.name),
    ...pools.map(({ pool }) => pool.metadata.name),
    ...foundOf(facts, 'BGPAdvertisement').flatMap(({ spec }) => (spec['ipAddressPools'] ?? []) as string[]),
  ])
  const stored = advertisementIn(existing, facts)
  const peers = predecessorPeers(
    existing.filter(isPeer).filter((one) => isOurs(facts.marks, one)),
    {
      found: foundOf(facts, 'BGPPeer'),
      nodes: facts.nodes,
      counting: countingSelectors(facts),
      labels: labelsOf(facts),
      usual: { holdTime: facts.marks.holdTime ?? '0s', keepaliveTime: '0s', peerPort: 179 },
      password: facts.password,
    },
  )
  const objects = [
    ...(stored ? [unlabelled(naming(namesIn(known, advertisedNames(stored, pools)), stored), stored)] : []),
    ...pools.map(({ pool, isThere }) => (isThere ? unlabelled(pool, pool) : pool)),
    ...peers,
  ]
  return objects.map((object) => ({ object, subjects: [{ node: object.metadata.name }] }))
}

/** The pools of the predecessor among all objects of the namespace. */
export function poolsToWrite(existing: readonly KubeObject[], facts: PredecessorFacts): WantedPool[] {
  const { marks, services } = facts
  const { ours = [], foreign = [] } = Object.groupBy(existing.filter(isPool), (pool) =>
    isOurs(marks, pool) ? 'ours' : 'foreign',
  )
  const found = new Set(foundOf(facts, 'IPAddressPool').map(({ name }) => name))
  return predecessorPools(ours, { namespace: marks.namespace, services, labels: labelsOf(facts), found, foreign })
}

/**
 * The stored advertisement with the names of its current and future pools. Undefined if it has them all, or if none is
 * ours: then a person's own announces them.
 */
export function advertisementOfBoth(
  existing: readonly KubeObject[],
  pools: readonly WantedPool[],
  facts: PredecessorFacts,
): BGPAdvertisement | undefined {
  const stored = advertisementIn(existing, facts)
  const before = stored?.spec?.ipAddressPools ?? []
  const both = stored ? [...new Set([...before, ...advertisedNames(stored, pools)])] : []
  return stored && both.length > before.length ? naming(both, stored) : undefined
}

function advertisementIn(existing: readonly KubeObject[], { marks }: PredecessorFacts): BGPAdvertisement | undefined {
  return existing.filter(isAdvertisement).find((one) => isOurs(marks, one))
}

/**
 * The advertisement with these names. Without any, it would announce every pool, and the predecessor would delete it
 * with the first Service.
 */
function naming(names: readonly string[], stored: BGPAdvertisement): BGPAdvertisement {
  return { ...stored, metadata: placeOf(stored), spec: { ipAddressPools: [...names] } }
}

/** The names of an advertisement after the renaming of pools, in their order. */
function advertisedNames({ spec = {} }: BGPAdvertisement, pools: readonly WantedPool[]): string[] {
  const newName = new Map(pools.flatMap(({ pool, replaces }) => (replaces ? [[replaces, pool.metadata.name]] : [])))
  const names = (spec.ipAddressPools ?? []).map((name) => newName.get(name) ?? name)
  const added = pools.filter(({ isThere, replaces }) => !isThere && replaces === undefined)
  return [...new Set([...names, ...added.map(({ pool }) => pool.metadata.name)])]
}

/**
 * The names without deleted pools, such as our renamed ones. All names if none would be left, because none means every
 * pool.
 */
function namesIn(known: ReadonlySet<string>, names: readonly string[]): readonly string[] {
  const left = names.filter((name) => known.has(name))
  return left.length === 0 ? names : left
}

/** Selectors that match no node, with which the predecessor counts the Services that need a peer. */
function countingSelectors({ services, marks: { counting } }: PredecessorFacts): LabelSelector[] {
  const keys = services.map(keyOf).toSorted(compareTexts)
  return keys.map((key) => ({ matchLabels: countingLabels(counting, key) }))
}

/** Whether the predecessor had one peer for all nodes of a region, as MetalLB with FRR requires. */
function hasSharedPeers(facts: PredecessorFacts): boolean {
  return foundOf(facts, 'BGPPeer').some(({ spec }) => {
    const selectors = (spec['nodeSelectors'] ?? []) as LabelSelector[]
    return selectors.some((one) => !isCounting(one) && regionLabel in (one.matchLabels ?? {}))
  })
}

function foundOf({ found }: PredecessorFacts, kind: string): FoundObject[] {
  return found.filter((one) => one.kind === kind)
}

function labelsOf({ marks: { label } }: PredecessorFacts): Record<string, string> {
  return { [label.name]: label.value }
}

/** The object without the label that makes it ours. */
function unlabelled(object: KubeObject, stored: KubeObject): KubeObject {
  if (!isWritten(stored)) return { ...object, metadata: placeOf(stored) }
  const { labels, annotations } = object.metadata
  return {
    ...object,
    metadata: { ...placeOf(stored), labels: withoutOwnLabel(labels), ...(annotations && { annotations }) },
  }
}

/** The name and the namespace of an object of MetalLB. */
export function placeOf({ metadata: { name, namespace = '' } }: KubeObject): { name: string; namespace: string } {
  return { name, namespace }
}
