// Which nodes may have the address of a Service, and in which order. The reasons to leave a node, the strongest last:
// 1. no ready endpoint, under externalTrafficPolicy Local;
// 2. its machine has no own public address of that family, so providers refuse it; never a reason for the holder;
// 3. its label excludes it: no address moves there, and one leaves when another node can take it;
// 4. its machine is about to be deleted;
// 5. it is being deleted.
// A node that is only cordoned stays: kube-proxy still serves there.
import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Machine, ProviderIds } from '../../clouds/ports/machines.ts'
import { type EndpointSlice, type Node, type Service, isExcluded } from '../../kube/objects.ts'
import { type MovableNode, type MoveWords, compareRanks } from '../moves/move-plan.ts'
import { noProbes, type ProbeHistory } from '../moves/probe-history.ts'
import { machineIdOf, oneNodeForEach } from '../nodes/node-machine.ts'
import { nodeRules } from './node-probes.ts'
import { isReady, isScaledDown, isShutDown } from '../nodes/taints.ts'

const excluded = 3

/** The words for nodes that serve Services. */
export const serviceWords: MoveWords = {
  node: 'node',
  failed: ({ name, probes: { failures, reason = 'no answer' } }) =>
    Number.isFinite(failures)
      ? `${failures} probes of node ${name} failed, the last one: ${reason}`
      : `node ${name} ${reason}`,
  leaving: [
    '',
    'without a ready endpoint',
    'without a public address of its own',
    'excluded by its label',
    'going away',
    'being deleted',
  ],
  excluded,
}

/** The nodes on which a Service has ready endpoints. With the policy Local, no other node can serve it. */
export type ServedBy = { nodes: ReadonlySet<string>; isLocal: boolean }

export type ServiceNodeFacts = {
  address: string
  nodes: readonly Node[]
  ids: ProviderIds
  /** The machines in the last list; undefined before the first. */
  machines?: readonly Machine[] | undefined
  /** The places where the address is at home, the narrowest first. */
  home: readonly string[]
  /** The Services of the address. */
  services: readonly ServedBy[]
  /** The machine that has the address. */
  holder: string | undefined
  /** The results of our own probes of a node. */
  probes: (node: string) => ProbeHistory
  /** The machines that have, or are about to get, these Services' other address: one node is simpler than two. */
  beside: ReadonlySet<string | undefined>
  /** How many addresses a machine has. */
  load: (machine: string) => number
  /** How many pending changes of addresses a machine must make, one after another. */
  queue: (machine: string) => number
}

/** The nodes that may have an address, the best one first. Pure. */
export function serviceNodes(facts: ServiceNodeFacts): MovableNode[] {
  const { ids, holder, address, load, queue } = facts
  const machines = new Map(facts.machines?.map((machine) => [machine.id, machine]))
  const nodes = oneNodeForEach(facts.nodes, facts)
  const probesOf = trustedProbes({ ...facts, nodes })
  const ranked = nodes.map((node) => {
    const machine = machineIdOf(node, ids)
    const known = machine === undefined ? undefined : machines.get(machine)
    const { name } = node.metadata
    const served = facts.services.filter((service) => service.nodes.has(name)).length
    const others = machine === undefined ? 0 : load(machine) - Number(machine === holder)
    const rank = [
      Number(others >= (known?.maxAddresses ?? Infinity)),
      -served,
      Number(node.spec.unschedulable === true),
      Number(machine === undefined || !facts.beside.has(machine)),
      distance(known, facts),
      machine === undefined ? 0 : queue(machine),
      others,
    ]
    const place = createHash('sha256').update(`${name} ${address}`).digest('hex')
    return { name, machine, leaving: leavingOf(node, known, facts), probes: probesOf(node), rank, place }
  })
  return ranked
    .toSorted((one, other) => compareRanks(one.rank, other.rank) || (one.place < other.place ? -1 : 1))
    .map(({ name, machine, leaving, probes }) => ({ name, machine, leaving, probes }))
}

/** A slice without the fields that `servedBy` ignores, because a cache keeps every slice of the cluster. */
export function withoutUnused(slice: EndpointSlice): EndpointSlice {
  const endpoints = slice.endpoints?.map(({ nodeName, conditions }) => ({
    addresses: [],
    ...(nodeName !== undefined && { nodeName }),
    ...(conditions && { conditions }),
  }))
  return { ...slice, endpoints: endpoints ?? null, ports: null }
}

export const serviceNameLabel = 'kubernetes.io/service-name'

/** The nodes that serve a Service, according to its own slices. */
export function servedBy({ metadata, spec }: Service, slices: readonly EndpointSlice[]): ServedBy {
  const own = slices.filter(
    (slice) =>
      slice.metadata.namespace === metadata.namespace && slice.metadata.labels?.[serviceNameLabel] === metadata.name,
  )
  return { nodes: servingNodes(own), isLocal: spec.externalTrafficPolicy === 'Local' }
}

/** The nodes with ready endpoints in a Service's slices; if there are none, those whose endpoints still serve. */
function servingNodes(slices: readonly EndpointSlice[]): Set<string> {
  const all = slices.flatMap(({ endpoints }) => endpoints ?? [])
  const on = (some: typeof all) => new Set(some.flatMap(({ nodeName }) => nodeName ?? []))
  const ready = on(all.filter(({ conditions }) => conditions?.ready ?? true))
  return ready.size > 0 ? ready : on(all.filter(({ conditions }) => conditions?.serving ?? false))
}

function leavingOf(node: Node, machine: Machine | undefined, { services, address, holder }: ServiceNodeFacts): number {
  const { metadata } = node
  if (metadata.deletionTimestamp !== undefined) return 5
  if (isShutDown(node) || isScaledDown(node)) return 4
  if (isExcluded(node)) return excluded
  if (machine && machine.id !== holder && !hasPublicAddress(machine, address)) return 2
  return services.some(({ isLocal, nodes }) => isLocal && !nodes.has(metadata.name)) ? 1 : 0
}

/** Whether the machine has its own public address of the same family. */
function hasPublicAddress({ addresses }: Machine, address: string): boolean {
  return addresses.some((own) => own.isPublic && !own.isElastic && isIPv6(own.address) === isIPv6(address))
}

/** How far a machine is from the home of the address: 0 in its narrowest place. Without a list, all are equally far. */
function distance(machine: Machine | undefined, { home }: ServiceNodeFacts): number {
  const { zone, region, networkZone } = machine ?? {}
  const place = home.findIndex((one) => [zone, region, networkZone].includes(one))
  return place < 0 ? home.length : place
}

const good: ProbeHistory = { ...noProbes, successes: Infinity }
const notReady: ProbeHistory = { ...noProbes, failures: Infinity, formerSuccesses: Infinity, reason: 'is not Ready' }

/**
 * Combines the verdict of Kubernetes with our probes. A node that never answered us proves nothing, because a firewall
 * may be in between. If more than half of the others fail at once, we suspect our own network, and only Kubernetes
 * decides. A node that is not ready for Kubernetes either is no reason for that. After such an outage the nodes answer
 * again one after another: only several good answers end the suspicion.
 */
function trustedProbes({ nodes, probes }: ServiceNodeFacts): (node: Node) => ProbeHistory {
  const histories = nodes
    .filter(isReady)
    .map(({ metadata }) => probes(metadata.name))
    .filter(hasAnswered)
  const unsteady = histories.filter(({ successes }) => successes < nodeRules.successes)
  const isTrusted = unsteady.length * 2 <= histories.length
  return (node) => {
    if (!isReady(node)) return notReady
    const history = isTrusted ? probes(node.metadata.name) : noProbes
    return hasAnswered(history) && history.failures > 0 ? history : good
  }
}

function hasAnswered({ answeredAtMs }: ProbeHistory): boolean {
  return answeredAtMs !== undefined
}
