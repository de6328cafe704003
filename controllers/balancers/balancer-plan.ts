// The next step for the managed balancer of a Service. The first row that applies decides.
//
//   the Service               | and                                            | step
//   --------------------------+------------------------------------------------+----------------------
//   is ignored, and stays     |                                                | -
//   is wrong, and stays       | its balancer has other origins than the nodes  | change-ports
//   is wrong, and stays       |                                                | -, service-plan.ts reports it
//   wants a balancer          | it has no finalizer of ours                    | add-finalizer
//   wants a balancer          | our request created another one                | remove-surplus
//   wants a balancer          | it has none, the last request is in flight     | wait
//   wants a balancer          | it has none, and names another's               | report-problems
//   wants a balancer          | it has none, and shows addresses               | clear-status
//   wants a balancer          | it has none                                    | create
//   has its balancer          | it does not name it, or a request is noted     | show-balancer
//   has its balancer          | ports, pools or origins differ                 | change-ports
//   has its balancer          | the balancer has no addresses yet              | wait
//   has its balancer          | the status shows others                        | show-status
//   has its balancer          | it reaches no node                             | report-problems
//   wants none, or is deleted | it stays, and has no finalizer of ours         | add-finalizer
//   wants none, or is deleted | it stays, and shows the balancer's addresses   | clear-status
//   wants none, or is deleted | there is a balancer by its name                | remove-balancer
//   wants none, or is deleted | there are pools by its name                    | remove-pools
//   wants none, or is deleted | a request is in flight                         | wait
//   wants none, or is deleted |                                                | forget
import type { Balancer } from '../../clouds/ports/balancers.ts'
import { statusAddresses } from '../../ledger/record/address-use.ts'
import { hasBalancer } from '../../ledger/want/managed.ts'
import type { Plan } from '../loop/reconciler.ts'
import { type BalancerSeen, namedBalancer, requestOf } from './balancer-state.ts'
import { type PortChanges, isUnchanged, originChanges, portChanges } from './port-changes.ts'

/** A change to the Service or at the provider. Each is safe to repeat. */
export type BalancerStep =
  | { do: 'add-finalizer' }
  | { do: 'create'; name: string; location: string }
  /** Writes the balancer's id and location on the Service, and ends the note of the request. */
  | { do: 'show-balancer'; id: string; location: string | undefined }
  | { do: 'change-ports'; balancer: string; changes: PortChanges }
  | { do: 'show-status'; addresses: string[] }
  | { do: 'clear-status' }
  /** Deletes its pools first: those that are not deleted with it would be left behind. */
  | { do: 'remove-balancer'; id: string; pools: string[] }
  /** A second balancer of ours for one Service, from a request that succeeded late. */
  | { do: 'remove-surplus'; id: string; pools: string[] }
  | { do: 'remove-pools'; pools: string[] }
  /** Removes our annotations and finalizers, and the upstream finalizer that a predecessor left for its balancer. */
  | { do: 'forget' }
  | { do: 'report-problems'; problems: string[] }

export type BalancerPlan = Plan<BalancerStep>

/** How soon we look again whether the provider has built a balancer. */
const buildPollMs = 2_000

/** How soon we look again for a balancer whose create was not answered. */
const requestPollMs = 5_000

/** The next step for the managed balancer of a Service. Pure. */
export function planBalancer(seen: BalancerSeen): BalancerPlan {
  const { service, wanted } = seen
  if (service.metadata.deletionTimestamp) return planRemoval(seen)
  switch (wanted.kind) {
    case 'ignored':
      return {}
    case 'wrong':
      return planWrong(seen)
    case 'managed':
      return planManaged(seen, wanted.location)
    case 'nothing':
    case 'foreign':
    case 'own':
    case 'reserve':
    case 'named':
      return planRemoval(seen)
  }
}

function planManaged(seen: BalancerSeen, location: string): BalancerPlan {
  const { service, found, names, foreign } = seen
  if (!hasBalancer(service)) return { step: { do: 'add-finalizer' } }
  const [balancer, ...others] = found
  const surplus = others.find((one) => isSurplus(one, seen))
  if (surplus) return { step: { do: 'remove-surplus', id: surplus.id, pools: poolsOf(surplus, balancer) } }
  if (balancer) return planServed(seen, balancer)
  if (seen.isInFlight) return { againInMs: requestPollMs }
  if (foreign) return { step: { do: 'report-problems', problems: [foreignProblem(seen, foreign)] } }
  if (statusAddresses(service).length > 0) return { step: { do: 'clear-status' } }
  return { step: { do: 'create', name: names.balancer, location } }
}

/**
 * Whether our request created a balancer that no client uses. A balancer that a predecessor created twice may be in
 * use.
 */
function isSurplus({ name, addresses }: Balancer, { names, service }: BalancerSeen): boolean {
  return name === names.balancer && !statusAddresses(service).some((address) => addresses.includes(address))
}

/** The pools of a balancer that the other one does not use. */
function poolsOf({ ports }: Balancer, other?: Balancer): string[] {
  const used = new Set(other?.ports.flatMap(({ pools }) => pools))
  return [...new Set(ports.flatMap(({ pools }) => pools))].filter((id) => !used.has(id))
}

/** Another's balancer is never used. Otherwise anyone who can write a Service could take it over, or have it deleted. */
function foreignProblem({ annotations }: BalancerSeen, { id }: { id: string }): string {
  return (
    `annotation ${annotations.id}: "${id}" names a load balancer that was not created for this Service of this ` +
    'cluster; remove the annotation, and the Service gets its own'
  )
}

function planServed(seen: BalancerSeen, balancer: Balancer): BalancerPlan {
  const { service, annotations } = seen
  const isNamed = namedBalancer(service, annotations) === balancer.id && requestOf(service) === undefined
  const location = service.metadata.annotations?.[annotations.location]
  if (!isNamed || (balancer.location !== undefined && location !== balancer.location))
    return { step: { do: 'show-balancer', id: balancer.id, location: balancer.location ?? location } }
  const changes = portChanges({ ...seen, balancer, ports: service.spec.ports ?? [] })
  if (!isUnchanged(changes)) return { step: { do: 'change-ports', balancer: balancer.id, changes } }
  if (balancer.addresses.length === 0) return { againInMs: buildPollMs }
  if (statusAddresses(service).toSorted().join() !== balancer.addresses.join())
    return { step: { do: 'show-status', addresses: balancer.addresses } }
  return seen.unreached === undefined ? {} : { step: { do: 'report-problems', problems: [seen.unreached] } }
}

/** A Service keeps its balancer, and the balancer its nodes, whatever a person has since written on the Service. */
function planWrong(seen: BalancerSeen): BalancerPlan {
  const [balancer] = seen.found
  if (!balancer) return {}
  const changes = originChanges({ ...seen, balancer, ports: seen.service.spec.ports ?? [] })
  return isUnchanged(changes) ? {} : { step: { do: 'change-ports', balancer: balancer.id, changes } }
}

function planRemoval(seen: BalancerSeen): BalancerPlan {
  const { service, found, pools, names } = seen
  const [first] = found
  const stays = service.metadata.deletionTimestamp === undefined
  if (stays && !hasBalancer(service) && first) return { step: { do: 'add-finalizer' } }
  const isShown = statusAddresses(service).some((address) => found.some(({ addresses }) => addresses.includes(address)))
  if (stays && isShown) return { step: { do: 'clear-status' } }
  const spare = pools.filter(({ name }) => names.portOfPool(name) !== undefined).map(({ id }) => id)
  if (first) {
    const all = [...new Set([...poolsOf(first), ...spare])]
    return { step: { do: 'remove-balancer', id: first.id, pools: all } }
  }
  if (spare.length > 0) return { step: { do: 'remove-pools', pools: spare } }
  if (seen.isInFlight) return { againInMs: requestPollMs }
  return { step: { do: 'forget' } }
}
