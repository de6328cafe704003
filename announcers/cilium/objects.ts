import type {
  Announced,
  Announcements,
  Configured,
  ObjectConfiguration,
  WantedObject,
  Problem,
  Subject,
} from '../announcer.ts'
import type { KubeObject, Condition } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { type ShownAddress, announceableIpv4, parseAddress, problemsOf, servicesOf } from '../shared/address.ts'
import { distinctProblems, distinct } from '../shared/order.ts'
import { lacksSessions } from '../shared/sessions.ts'
import { isWritten, lacks, omitTakenNames, ownLabels, ownName } from '../shared/own-objects.ts'
import { names } from '../../settings/installed-names.ts'
import { type CiliumOptions, clusterConfigName, peersOf, unusedConfigs } from './peers.ts'
import { exactSelectors, holds, keptPools, poolName, poolsOf } from './pools.ts'
import {
  ciliumResources,
  isPool,
  type BGPAdvertisement,
  apiVersion,
  type BGPNodeConfig,
  isClusterConfig,
  isNodeConfig,
  isPeerConfig,
} from './resources.ts'

const { pools, peerConfigs, advertisements, overrides, clusterConfigs, nodeConfigs } = ciliumResources

/** Cilium's LB IPAM and BGP control plane, configured by its custom resources. */
export function ciliumObjects(options: CiliumOptions): ObjectConfiguration {
  return {
    kind: 'objects',
    namespace: options.secretsNamespace,
    // A node's override comes before its sessions: added later, it would restart them.
    kinds: [
      { resource: secrets, only: names.bgpSecret },
      { resource: peerConfigs },
      { resource: advertisements },
      { resource: overrides },
      { resource: clusterConfigs },
      { resource: pools },
    ],
    from: 'Cilium 1.18 or later, with bgpControlPlane.enabled=true',
    isOurs: isWritten,
    objects: (state, existing) => configure(options, state, existing),
    reports: [pools, peerConfigs, clusterConfigs, nodeConfigs],
    reportedProblems,
    announcing: pools,
    nameFor: poolName,
    hasAddress(object, text) {
      const address = parseAddress(text)
      return address !== undefined && isPool(object) && isWritten(object) && holds(object, address)
    },
  }
}

function configure(options: CiliumOptions, state: Announcements, existing: readonly KubeObject[]): Configured {
  const { shown, problems } = announceableIpv4(state.addresses, 'Cilium')
  const own = poolsOf(shown, existing)
  const all = [...own.wanted, ...keptPools(state, own.wanted, existing)]
  const found = [...problems, ...own.problems]
  if (all.length === 0) return { wanted: [], problems: distinctProblems(found), isHeld: shown.length > 0 }
  const waking = wakingProblems(state, existing)
  if (waking.length > 0) return { wanted: [], problems: distinctProblems([...found, ...waking]), isHeld: true }
  const peers = peersOf(state.nodes, options, existing)
  const known = announceableIpv4(undecidedWithPool(state, existing), 'Cilium').shown
  const wanted = [...peers.common, ...advertisementOf([...shown, ...known]), ...peers.wanted, ...all]
  const foreign = existing.filter((one) => !isWritten(one))
  const possible = omitTakenNames(wanted, foreign, [...found, ...peers.problems])
  const unused = unusedConfigs(state.nodes, existing)
  const used = possible.wanted.filter(({ object }) => !unused.has(object.metadata.name))
  const lacksAdvertisement = lacks(advertisements.kind, { wanted, possible: possible.wanted })
  return { ...possible, isHeld: lacksAdvertisement || lacksSessions(state.nodes, used, clusterConfigs.kind) }
}

/** Addresses that the ledger has not decided yet, and that have a pool of ours: Cilium announces them already. */
function undecidedWithPool({ undecided = [] }: Announcements, existing: readonly KubeObject[]): Announced[] {
  const ours = new Set(existing.filter((one) => isPool(one) && isWritten(one)).map(({ metadata }) => metadata.name))
  return undecided.filter(({ address }) => ours.has(poolName(address) ?? ''))
}

/**
 * The routes for the provider's routers: the addresses of exactly these Services. The routers would refuse any other
 * address, and must not learn internal ones.
 */
function advertisementOf(shown: readonly ShownAddress[]): WantedObject[] {
  const services = distinct(shown.flatMap((one) => one.services))
  if (services.length === 0) return []
  const advertisements = exactSelectors(services).map((selector) => ({
    advertisementType: 'Service',
    service: { addresses: ['LoadBalancerIP'] },
    selector,
  }))
  const object: BGPAdvertisement = {
    apiVersion,
    kind: 'CiliumBGPAdvertisement',
    metadata: { name: ownName, labels: ownLabels },
    spec: { advertisements },
  }
  return [{ object, subjects: servicesOf([{ services }]) }]
}

/** The problems that Cilium reports about what we wrote. */
export function reportedProblems(reports: readonly KubeObject[], state: Announcements): Problem[] {
  return distinctProblems([
    ...reports.filter(isWritten).flatMap((report) => conditionProblems(report, state)),
    ...reports.filter(isNodeConfig).flatMap((report) => nodeProblems(report, state)),
  ])
}

/** The message about each condition that is True. `mayPass`: it may take Cilium a moment to clear the condition. */
const meanings: Record<string, { message: string; mayPass?: true }> = {
  'cilium.io/PoolConflict': {
    message:
      'Cilium does not use the pool of the address, because another pool has it too; remove it from the other one',
  },
  'cilium.io/ConflictingClusterConfig': {
    message:
      'no BGP session is configured, because Cilium uses one CiliumBGPClusterConfig for each node and another one selects this node; narrow its nodeSelector',
  },
  'cilium.io/NoMatchingNode': {
    message: 'no BGP session is configured, because no CiliumNode has the label kubernetes.io/hostname of this node',
    mayPass: true,
  },
  'cilium.io/MissingPeerConfigs': { message: 'the peer configuration of a BGP session is missing', mayPass: true },
  'cilium.io/MissingAuthSecret': {
    message:
      'Cilium does not find the password of the BGP sessions; name the namespace of its BGP Secrets in the load balancer setting',
    mayPass: true,
  },
}

function conditionProblems(report: KubeObject, state: Announcements): Problem[] {
  const conditions: Condition[] =
    isPool(report) || isClusterConfig(report) || isPeerConfig(report) ? (report.status?.conditions ?? []) : []
  return conditions.flatMap(({ type, status, message: words }) => {
    const meaning = meanings[type]
    if (!meaning || status !== 'True') return []
    const message = words === '' ? meaning.message : `${meaning.message} (${words})`
    return subjectsOf(report, state).map((subject) => ({ ...meaning, subject, message }))
  })
}

function subjectsOf(report: KubeObject, { addresses, nodes }: Announcements): Subject[] {
  const { name } = report.metadata
  if (isPool(report)) {
    return servicesOf(addresses.filter(({ address }) => poolName(address) === name))
  }
  const own = isClusterConfig(report) ? nodes.filter(({ node }) => clusterConfigName(node) === name) : nodes
  return own.map(({ node }) => ({ node }))
}

/** The problems that a node's agent reports: failed reconciliation, and sessions that are not established. */
function nodeProblems({ metadata: { name: node }, status = {} }: BGPNodeConfig, { nodes }: Announcements): Problem[] {
  if (!nodes.some((one) => one.node === node)) return []
  const subject = { node }
  const failed = (status.conditions ?? []).filter(
    (one) => one.type === 'cilium.io/BGPReconcileError' && one.status === 'True',
  )
  const ours = (status.bgpInstances ?? []).filter(({ name }) => name.startsWith(`${ownName}-as`))
  const down = ours.flatMap(({ peers = [] }) => peers).filter(({ peeringState }) => peeringState !== 'established')
  return [
    ...failed.map(({ message }) => ({ subject, message: `Cilium's agent refuses its BGP configuration: ${message}` })),
    ...down.map(({ peerAddress, peeringState = 'unknown' }) => ({
      subject,
      message: `the BGP session with router ${peerAddress} is ${peeringState} and not established; check the password, and whether another program on this node has a session with this router`,
      mayPass: true as const,
    })),
  ]
}

/** The class of Services that Cilium's BGP announces, besides those without a class. */
export const bgpClass = 'io.cilium/bgp-control-plane'

/** The classes of Services to which LB IPAM gives addresses. BGP announces nothing of the second class. */
const ciliumClasses = [bgpClass, 'io.cilium/l2-announcer']

/**
 * Why the first pool of a cluster would take addresses away. It activates LB IPAM, which within a second clears
 * statuses that other programs wrote on Services that no pool serves. An existing pool means that LB IPAM is active.
 */
function wakingProblems(
  { addresses, foreign = [] }: Pick<Announcements, 'addresses' | 'foreign'>,
  existing: readonly KubeObject[],
): Problem[] {
  if (existing.some(isPool)) return []
  const endangered = foreign
    .filter(({ loadBalancerClass: name }) => name === undefined || ciliumClasses.includes(name))
    .map(({ service }) => service)
  if (endangered.length === 0) return []
  const others = endangered.length === 1 ? '' : ` and ${endangered.length - 1} more`
  const message =
    `nothing is written for Cilium yet: its first address pool makes Cilium remove the address that another program wrote ` +
    `into the status of Service ${endangered.toSorted()[0]}${others}. Give such Services the loadBalancerClass of their ` +
    'program. If Cilium may serve them, create a CiliumLoadBalancerIPPool with their addresses yourself'
  return problemsOf(addresses, message)
}
