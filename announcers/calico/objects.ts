import type { Announced, Announcements, Configured, ObjectConfiguration, Problem, WantedObject } from '../announcer.ts'
import type { Key, KubeObject } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import { type ShownAddress, announceableIpv4, parseAddress, prefixOf } from '../shared/address.ts'
import { distinctProblems } from '../shared/order.ts'
import { lacksSessions } from '../shared/sessions.ts'
import { isWritten, omitTakenNames, ownLabels, ownName } from '../shared/own-objects.ts'
import { names } from '../../settings/installed-names.ts'
import { withoutClass } from '../../settings/service-policy.ts'
import { configurationName, configurationOf, hasEntry, isOnlyOurs } from './configuration.ts'
import { type CalicoOptions, peersOf } from './peers.ts'
import {
  type BGPFilter,
  apiVersion,
  calicoResources,
  isConfiguration,
  isControllers,
  isIPPool,
  isPeer,
} from './resources.ts'

const { peers, filters, configurations, pools, controllers } = calicoResources

/**
 * Without its Node, confd reads nothing new and BIRD keeps its routes until the cluster has deleted its Pod, which takes a
 * minute. The routers then keep them for the 120 s of a graceful restart, or for the hold time of 240 s.
 */
const lingeringMs = 300_000

/** Calico's BGP, configured by its resources. */
export function calicoObjects(options: CalicoOptions): ObjectConfiguration {
  return {
    kind: 'objects',
    namespace: options.namespace,
    // A filter before its peers, so that no route of the cloud gets into the kernel. A refused apply that creates is an
    // error of Calico's API server, which would end the whole pass. A refused create is none.
    kinds: [
      { resource: secrets, only: names.bgpSecret },
      { resource: filters, isPruned: true, isWatched: true },
      { resource: peers, isPruned: true, isStrict: true, isWatched: true },
      { resource: configurations, only: configurationName, isShared: true, isWatched: true },
      { resource: pools },
      { resource: controllers, only: 'default' },
    ],
    from: 'Calico 3.31 or later, with its API server (projectcalico.org/v3)',
    isOurs: (object) => (isConfiguration(object) ? isOnlyOurs(object) : isWritten(object)),
    objects: (state, existing) => configure(options, state, existing),
    reports: [],
    reportedProblems: () => [],
    announcing: configurations,
    nameFor: () => configurationName,
    lingering: { forMs: lingeringMs, nodeOf: (one) => (isPeer(one) && isWritten(one) ? one.spec.node : undefined) },
    hasAddress(object, text) {
      const address = parseAddress(text)
      return address !== undefined && isConfiguration(object) && hasEntry(object, prefixOf(address))
    },
  }
}

function configure(options: CalicoOptions, state: Announcements, existing: readonly KubeObject[]): Configured {
  const { shown: all, problems } = announceableIpv4(
    [...state.addresses, ...undecidedEntries(state, existing)],
    'Calico',
  )
  const pool = poolOfStatuses(existing)
  const isDisputed = (service: Key) => isClassOfCalico(state.facts?.get(service)?.loadBalancerClass)
  const disputed = pool === undefined ? [] : all.filter(({ services }) => services.some(isDisputed))
  // An address that has a route keeps it.
  const shown = all.filter((one) => !disputed.includes(one) || isListed(one, existing))
  const list = configurationOf(shown, existing)
  // Until Calico announces for us, a disputed address may have its way by other software, which stays for all.
  const waits = disputed.length > 0 && !hasBegun(all, existing)
  const waiting = waits ? all.filter((one) => !disputed.includes(one)) : []
  const found = [...problems, ...refusals(disputed, pool), ...delays(waiting, { disputed, pool })]
  if (all.length === 0) return { wanted: list, problems: distinctProblems(found) }
  if (waits || disputed.length === all.length)
    return { wanted: kept(shown, existing), problems: distinctProblems(found), isHeld: true }
  const own = peersOf(state.nodes, options, existing)
  // The list is a person's, and shared with him.
  const foreign = existing.filter((one) => !isWritten(one) && !isConfiguration(one))
  const wanted = [...own.secret, filterOf(shown), ...own.wanted, ...list]
  const possible = omitTakenNames(wanted, foreign, [...found, ...own.problems])
  // A peer with another's filter would announce what that one accepts.
  const isFiltered = possible.wanted.some(({ object }) => object.kind === filters.kind)
  if (!isFiltered) return { ...possible, wanted: kept(shown, existing), isHeld: true }
  return { ...possible, isHeld: lacksSessions(state.nodes, possible.wanted, peers.kind) }
}

/** Our entries of which the ledger has not decided yet whose the address is: it is announced already. */
function undecidedEntries({ undecided = [] }: Announcements, existing: readonly KubeObject[]): Announced[] {
  return undecided.filter(({ address: text }) => {
    const address = parseAddress(text)
    return address !== undefined && isListed({ address }, existing)
  })
}

/** Routes of other nodes come first: a node that learned one in the mesh would announce it as if it served the address. */
function filterOf(shown: readonly ShownAddress[]): WantedObject {
  const accepted = shown.map(({ address }) => ({
    action: 'Accept' as const,
    matchOperator: 'Equal' as const,
    cidr: prefixOf(address),
  }))
  const object: BGPFilter = {
    apiVersion,
    kind: 'BGPFilter',
    metadata: { name: ownName, labels: ownLabels },
    spec: {
      importV4: [{ action: 'Reject' }],
      exportV4: [{ action: 'Reject', source: 'RemotePeers' }, ...accepted, { action: 'Reject' }],
    },
  }
  return { object, subjects: shown.flatMap(({ services }) => services.map((service) => ({ service }))) }
}

function refusals(disputed: readonly ShownAddress[], pool: string | undefined): Problem[] {
  const message =
    `IPPool ${pool} is for load balancers, so Calico writes the status of this Service too, and nothing new is announced ` +
    `for it. Delete ${pool}, or create the Service again with a loadBalancerClass that eip-admission serves, and not calico`
  return disputed.flatMap(({ services }) => services).map((service) => ({ subject: { service }, message }))
}

/** The message to Services that Calico does not serve, while others keep it from announcing anything. */
function delays(
  waiting: readonly ShownAddress[],
  { disputed, pool }: { disputed: readonly ShownAddress[]; pool: string | undefined },
): Problem[] {
  const [first] = disputed.flatMap(({ services }) => services)
  const message =
    `IPPool ${pool} is for load balancers, so Calico writes the status of Service ${first} too, and announces nothing ` +
    `for eip-admission until that ends. Delete ${pool}, or create that Service again with a loadBalancerClass that eip-admission ` +
    `serves, and not calico`
  return waiting.flatMap(({ services }) => services).map((service) => ({ subject: { service }, message }))
}

/** Whether Calico announces for us already. We write peers only where other software may end; a person's may serve us. */
function hasBegun(all: readonly ShownAddress[], existing: readonly KubeObject[]): boolean {
  const hasPeers = existing.some((one) => one.kind === peers.kind && isWritten(one))
  return hasPeers || all.some((one) => isListed(one, existing))
}

function isListed({ address }: Pick<ShownAddress, 'address'>, existing: readonly KubeObject[]): boolean {
  const list = existing.find(isConfiguration)
  return list !== undefined && hasEntry(list, prefixOf(address))
}

/** Our objects as they are: an address that has a route keeps it. An address that is no longer shown leaves the list. */
function kept(shown: readonly ShownAddress[], existing: readonly KubeObject[]): WantedObject[] {
  const listed = shown.filter((one) => isListed(one, existing))
  const ours = existing.filter((one) => isWritten(one) && !isConfiguration(one))
  return [...ours.map((object) => ({ object, subjects: [] })), ...configurationOf(listed, existing)]
}

/** The IPPool by which Calico itself writes the status of Services, as we do; undefined where it does not. */
export function poolOfStatuses(existing: readonly KubeObject[]): string | undefined {
  // An environment variable can start the controller too, so only what it says of itself counts.
  const running = existing.find(isControllers)?.status?.runningConfig?.controllers
  if (running && !running.loadBalancer) return undefined
  return existing.filter(isIPPool).find(({ spec }) => spec?.allowedUses?.includes('LoadBalancer'))?.metadata.name
}

/**
 * Whether Calico writes the status of Services of a class, where it has a pool. Its setting RequestedServicesOnly changes
 * nothing. From 3.33 on the address in the spec is a request, and Calico empties the status where it cannot grant it.
 */
export function isClassOfCalico(name: string = withoutClass): boolean {
  return name === withoutClass || name === 'calico'
}
