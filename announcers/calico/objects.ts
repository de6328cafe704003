import type { Announced, Announcements, Configured, ObjectConfiguration, Problem, WantedObject } from '../announcer.ts'
import type { Key, KubeObject } from '../../kube/objects.ts'
import { secrets } from '../../kube/resource.ts'
import {
  type ShownAddress,
  announceableIpv4,
  parseAddress,
  prefixOf,
  problemsOf,
  servicesOf,
} from '../shared/address.ts'
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
 * After its Node is deleted, confd reads nothing new and BIRD keeps its routes until the Pod is deleted, which takes a
 * minute. The routers then keep them for a graceful restart (120 s), or for the hold time (240 s).
 */
const lingeringMs = 300_000

/** Calico's BGP, configured by its resources. */
export function calicoObjects(options: CalicoOptions): ObjectConfiguration {
  return {
    kind: 'objects',
    namespace: options.namespace,
    // A filter comes before its peers, so that no route from the provider gets into the kernel. If Calico's API server
    // refuses an apply that creates, its error would end the whole pass. A refused create does not.
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
  // Until Calico announces for us, other software may announce a disputed address, so that software stays for all.
  const waits = disputed.length > 0 && !hasBegun(all, existing)
  const waiting = waits ? all.filter((one) => !disputed.includes(one)) : []
  const found = [...problems, ...disputeProblems(disputed, waiting, pool)]
  if (all.length === 0) return { wanted: list, problems: distinctProblems(found) }
  if (waits || disputed.length === all.length)
    return { wanted: kept(shown, existing), problems: distinctProblems(found), isHeld: true }
  const own = peersOf(state.nodes, options, existing)
  // People share the list with us, so it is never foreign.
  const foreign = existing.filter((one) => !isWritten(one) && !isConfiguration(one))
  const wanted = [...own.secret, filterOf(shown), ...own.wanted, ...list]
  const possible = omitTakenNames(wanted, foreign, [...found, ...own.problems])
  // A peer with a foreign filter would announce whatever that filter accepts.
  const isFiltered = possible.wanted.some(({ object }) => object.kind === filters.kind)
  if (!isFiltered) return { ...possible, wanted: kept(shown, existing), isHeld: true }
  return { ...possible, isHeld: lacksSessions(state.nodes, possible.wanted, peers.kind) }
}

/** Our entries for addresses that the ledger has not decided yet: Calico announces them already. */
function undecidedEntries({ undecided = [] }: Announcements, existing: readonly KubeObject[]): Announced[] {
  return undecided.filter(({ address: text }) => {
    const address = parseAddress(text)
    return address !== undefined && isListed({ address }, existing)
  })
}

/**
 * The rules for routes of other nodes come first: otherwise a node that learned a route in the mesh would announce it
 * as its own.
 */
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
  return { object, subjects: servicesOf(shown) }
}

/**
 * The problems of Services whose status Calico writes too, and of others that have to wait because of them. `pool` is
 * the reason.
 */
function disputeProblems(disputed: readonly ShownAddress[], waiting: readonly ShownAddress[], pool = ''): Problem[] {
  const [first] = servicesOf(disputed)
  const cause = `IPPool ${pool} is for load balancers, so Calico writes the status of`
  const remedy = `with a loadBalancerClass that eip-admission serves, and not calico`
  return [
    ...problemsOf(
      disputed,
      `${cause} this Service too, and nothing new is announced for it. Delete ${pool}, or create the Service again ${remedy}`,
    ),
    ...problemsOf(
      waiting,
      `${cause} Service ${first?.service} too, and announces nothing for eip-admission until that ends. Delete ${pool}, ` +
        `or create that Service again ${remedy}`,
    ),
  ]
}

/**
 * Whether Calico announces for us already. We write peers only once other software may end, but a person's peers may
 * serve us.
 */
function hasBegun(all: readonly ShownAddress[], existing: readonly KubeObject[]): boolean {
  const hasPeers = existing.some((one) => one.kind === peers.kind && isWritten(one))
  return hasPeers || all.some((one) => isListed(one, existing))
}

function isListed({ address }: Pick<ShownAddress, 'address'>, existing: readonly KubeObject[]): boolean {
  const list = existing.find(isConfiguration)
  return list !== undefined && hasEntry(list, prefixOf(address))
}

/**
 * Our objects unchanged, so that an address that has a route keeps it. The list loses addresses that are no longer
 * shown.
 */
function kept(shown: readonly ShownAddress[], existing: readonly KubeObject[]): WantedObject[] {
  const listed = shown.filter((one) => isListed(one, existing))
  const ours = existing.filter((one) => isWritten(one) && !isConfiguration(one))
  return [...ours.map((object) => ({ object, subjects: [] })), ...configurationOf(listed, existing)]
}

/** The IPPool from which Calico itself writes the status of Services, as we do; undefined if it does not. */
export function poolOfStatuses(existing: readonly KubeObject[]): string | undefined {
  // An environment variable can start the controller too, so only its own report counts.
  const running = existing.find(isControllers)?.status?.runningConfig?.controllers
  if (running && !running.loadBalancer) return undefined
  return existing.filter(isIPPool).find(({ spec }) => spec?.allowedUses?.includes('LoadBalancer'))?.metadata.name
}

/**
 * Whether Calico writes the status of Services of a class, if it has a pool. Its setting RequestedServicesOnly changes
 * nothing. From 3.33 on, Calico treats the address in the spec as a request, and empties the status if it cannot grant
 * it.
 */
export function isClassOfCalico(name: string = withoutClass): boolean {
  return name === withoutClass || name === 'calico'
}
