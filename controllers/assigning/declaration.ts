import type { Announcer } from '../../announcers/announcer.ts'
import type { AssignedAddress, Assignments } from '../../clouds/ports/assignments.ts'
import { systemClock } from '../../kube/clock.ts'
import { type EndpointSlice, type Key, type Node, type Service, keyOf } from '../../kube/objects.ts'
import { type Reflector, reflector } from '../../kube/reflector.ts'
import { endpointSlices } from '../../kube/resource.ts'
import { claimKey, isSecond, phaseOf, recordName, reservationIdOf, secondKeys } from '../../ledger/record/elastic-ip.ts'
import { decidingRecord } from '../../ledger/record/address-use.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { repeatLater } from '../../lib/repeat.ts'
import type { ClusterState } from '../../ledger/identity/heartbeats.ts'
import {
  announcedAddress,
  announcedAddresses,
  mentionsAddress,
  type ServiceState,
  serviceStates,
} from '../announcing/announced.ts'
import { problemReporter } from '../announcing/declaration.ts'
import type { Dependencies } from '../dependencies.ts'
import type { ControllerDeclaration } from '../loop/controller.ts'
import { errorText } from '../loop/reconcile-key.ts'
import { type ForwardedKeys, forwardedKeys, type Watch, watch } from '../loop/watch.ts'
import { type Arrival, type Assigning, assigning, tenancyIn } from './assigning.ts'
import type { Halt } from './assigning-plan.ts'
import { type NodeProbes, nodeProbes } from './node-probes.ts'
import { servedBy, serviceNameLabel, serviceNodes, withoutUnused } from './service-nodes.ts'

export type ServiceAssigning = NonNullable<ReturnType<typeof serviceAssigning>>

/**
 * The part that routes the addresses of Services to machines, if the provider assigns them; undefined if announcing
 * software routes them to nodes.
 */
export function serviceAssigning(deps: Dependencies, writeMs: () => number) {
  const { announcer, vendor, caches } = deps
  if (!announcer.assignment) return undefined
  const { assignments } = vendor
  if (!assignments)
    throw new Error(`${vendor.cloud.name} cannot assign an address to a machine; choose another load balancer`)
  const slices = reflector({ client: deps.client, resource: endpointSlices, log: deps.log, strip: withoutUnused })
  const all = () => announcedAddresses(serviceStates(deps)).map(({ address }) => address)
  const [due, arrived] = [forwardedKeys(), forwardedKeys()]
  const probes = nodeProbes({
    nodes: () => caches.nodes.list(),
    clock: systemClock,
    onChange: () => all().forEach(due.add),
  })
  const reconciler = makeReconciler(deps, { assignments, slices, probes, arrived, writeMs })
  caches.nodes.onChange(probes.retarget)
  return {
    free: reconciler.free,
    /** The announcer for Services: a Service shows its address only once the provider routes it to a machine. */
    announcer: shownOnArrival(announcer, reconciler),
    /** The Services whose address has arrived. */
    arrived: arrived.watch,
    /** Works on every replica, leading or not, until the signal aborts. */
    standBy(signal: AbortSignal) {
      if (announcer.assignment?.isProbed) probes.start(signal)
    },
    declaration: {
      reconciler,
      // A dying node may have had hundreds of addresses. They wait for their turn at a machine, but not for each other.
      concurrency: 1_000,
      needs: [caches.services, caches.records, caches.nodes, slices],
      keys: all,
      retry: { firstMs: 1_000, maxMs: 60_000 },
      watches: [due.watch, reconciler.watch, ...changes(deps, { slices, all })],
      async prepare(signal) {
        reconciler.begin()
        slices.start(signal)
        await caches.records.synced(signal)
        await Promise.all([read(deps, reconciler, signal), knowMachines(deps, signal)])
        void readRepeatedly(deps, reconciler, signal)
      },
    } satisfies ControllerDeclaration,
  }
}

type Parts = {
  assignments: Assignments
  slices: Reflector<EndpointSlice>
  probes: NodeProbes
  arrived: ForwardedKeys
  writeMs: () => number
}

function makeReconciler(deps: Dependencies, { assignments, slices, probes, arrived, writeMs }: Parts): Assigning {
  const { caches, vendor, ledger } = deps
  const shownBy = (address: string) => statesShowing(deps, address)
  const servedFrom = (address: string) => shownBy(address).map(({ service }) => servedBy(service, slices.list()))
  return assigning({
    assignments,
    showing: (address) => announcedAddresses(shownBy(address)).flatMap(({ services }) => services),
    lacksEndpoints: (address) => servedFrom(address).every(({ isLocal, nodes }) => isLocal && nodes.size === 0),
    halt: () => haltOf(ledger.heartbeats.state()),
    ...recordedIn(deps),
    partnersOf: (address) =>
      shownBy(address)
        .flatMap(({ service }) => addressesOf(caches, keyOf(service), service))
        .filter((one) => one !== address),
    nodes: (address, of) =>
      serviceNodes({
        address,
        nodes: caches.nodes.list(),
        ids: vendor.providerIds,
        machines: deps.machines.latest(),
        services: servedFrom(address),
        probes: probes.history,
        ...of,
      }),
    report: problemReporter(deps),
    onArrival(arrival) {
      tell(deps, arrival)
      arrival.services.forEach(arrived.add)
    },
    writeMs,
    clock: systemClock,
    log: deps.log,
  })
}

const recentMs = 60_000

/** Reads the ledger's facts about an address. */
function recordedIn({ caches, ledger }: Dependencies) {
  const recordOf = (address: string) =>
    decidingRecord(address, caches.records.list(), (key) => caches.services.get(key))
  return {
    reservationOf(address: string) {
      const record = recordOf(address)
      return record && reservationIdOf(record)
    },
    isReleasing(address: string) {
      const record = recordOf(address)
      return record !== undefined && phaseOf(record) === 'Releasing'
    },
    tenancyOf: (address: string) => tenancyIn(caches.records.list(), address),
    foreignReason: (address: string, found: AssignedAddress) => ledger.foreignReason(recordOf(address), found),
  }
}

/**
 * A copy of this cluster has the same Services, and its nodes would take every address. So a leader first looks for
 * another cluster. A leader whose releases must wait moves addresses anyway: a move can be undone, and waiting would
 * prolong an outage.
 */
function haltOf(state: ClusterState): Halt | undefined {
  if (state.kind === 'unchecked') return {}
  return state.kind === 'foreign' ? { problem: `it stays where it is: ${state.reason}` } : undefined
}

/** The Services that show an address. Nothing that people write on a Service names its second address. */
function statesShowing(deps: Pick<Dependencies, 'caches' | 'want'>, address: string): ServiceState[] {
  const records = deps.caches.records.list()
  const second = records.find((record) => record.status?.address === address && isSecond(record))
  const key = second && claimKey(second)
  return serviceStates(deps, (service) => keyOf(service) === key || mentionsAddress(service, address)).filter(
    (state) => announcedAddress(state) === address,
  )
}

function changes({ caches }: Dependencies, of: { slices: Reflector<EndpointSlice>; all: () => string[] }): Watch[] {
  const { services, records, nodes } = caches
  const shownBy = (key: Key) => addressesOf(caches, key, services.get(key))
  return [
    watch(services, (key, ...versions) => versions.flatMap((service) => addressesOf(caches, key, service))),
    watch(records, (_name, ...versions) => versions.flatMap((record) => record?.status?.address ?? [])),
    watch(of.slices, (_key, ...versions) =>
      versions.flatMap((slice) => {
        const name = slice?.metadata.labels?.[serviceNameLabel]
        return name === undefined ? [] : shownBy(`${slice?.metadata.namespace}/${name}`)
      }),
    ),
    watch(nodes, (_name, ...versions) => (isSame(versions) ? [] : of.all())),
  ]
}

/** The addresses of a Service: the one in its spec, and that of its second record. */
function addressesOf(
  { records }: Pick<Dependencies['caches'], 'records'>,
  key: Key,
  service: Service | undefined,
): string[] {
  const seconds = secondKeys(key).flatMap((second) => records.get(recordName(second))?.status?.address ?? [])
  const first = canonicalIpAddress(service?.spec.loadBalancerIP ?? '')
  return first ? [first, ...seconds] : seconds
}

/** A kubelet writes its Node every few minutes without a relevant change. */
function isSame(versions: (Node | undefined)[]): boolean {
  const [now, before] = versions.map((node) =>
    JSON.stringify([
      node?.spec,
      node?.metadata.deletionTimestamp,
      node?.metadata.labels,
      node?.status?.conditions?.map(({ type, status }) => [type, status]),
    ]),
  )
  return now === before
}

/** Lets a Service show its address from its arrival on. Its status stays while the address moves, because DNS relies on it. */
function shownOnArrival(announcer: Announcer, { isAssigned }: Pick<Assigning, 'isAssigned'>): Announcer {
  return {
    ...announcer,
    request: (address) => (isAssigned(address) ? announcer.request(address) : {}),
  }
}

function tell({ events, caches, log }: Dependencies, { address, services, move }: Arrival): void {
  if (!move) return
  const { from, to, why } = move
  log.info({ address, from, to, why }, 'address assigned')
  const message =
    from === undefined
      ? `Address ${address} is assigned to node ${to}`
      : `Address ${address} moved from ${from} to node ${to}: ${why}`
  for (const key of services) {
    const service = caches.services.get(key)
    if (service) events.of('service-controller').record(service, { type: 'Normal', reason: 'AddressAssigned', message })
  }
}

/** Nothing notifies us when a person or another program moves an address, so it is listed periodically. */
function readRepeatedly(deps: Dependencies, reconciler: Assigning, signal: AbortSignal): Promise<void> {
  const { sweepIntervalMs: everyMs } = deps.settings.cluster
  return repeatLater(() => read(deps, reconciler, signal), { everyMs, signal, clock: systemClock })
}

/**
 * The first choice of a machine needs the list of all. Without it, only the provider's refusals show which machines
 * cannot have an address.
 */
async function knowMachines({ machines, log }: Dependencies, signal: AbortSignal): Promise<void> {
  try {
    await machines.within(recentMs, signal)
  } catch (error) {
    if (!signal.aborted) log.warn({ error: errorText(error) }, 'the machines were not listed')
  }
}

async function read({ log }: Dependencies, { readAll }: Assigning, signal: AbortSignal): Promise<void> {
  try {
    await readAll(signal)
  } catch (error) {
    if (!signal.aborted) log.warn({ error: errorText(error) }, 'which machines have the addresses was not read')
  }
}
