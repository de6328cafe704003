import { setTimeout as sleep } from 'node:timers/promises'
import { listAll } from '../../kube/list-all.ts'
import { type Key, type Service, ingressOf, keyOf } from '../../kube/objects.ts'
import { configMaps, events, services } from '../../kube/resource.ts'
import { type ElasticIP, elasticIPs, recordName, reservationIdOf, secondKeys } from '../../ledger/record/elastic-ip.ts'
import { confirmAnnotation, elasticIPAnnotation } from '../../ledger/record/names.ts'
import { isAvailable, isSource, isWarm } from '../../ledger/record/source.ts'
import { names as installed } from '../../settings/installed-names.ts'
import { type Reservation, dialectOf, reservationsIn, serviceTag } from '../whole/dialects.ts'
import { type Arena, otherCaller } from './arena.ts'
import { clusterTagOfOthers } from './action.ts'
import { endFlips, lostByStrangers } from './strangers.ts'

/** The current violations; work in progress causes some of them. */
async function violations(arena: Arena): Promise<string[]> {
  const { client, stage } = arena
  const [all, records] = await Promise.all([listAll(client, services), listAll(client, elasticIPs)])
  const reserved = reservationsIn(stage.dialect, stage.cloud.control)
  const seen = { arena, all, records, reserved, surplus: arena.isCareless ? await surplusIn(arena) : new Set<string>() }
  return [...wrongInServices(seen), ...wrongInRecords(seen), ...wrongInCloud(seen), ...(await lostByStrangers(arena))]
}

type Seen = {
  arena: Arena
  all: Service[]
  records: ElasticIP[]
  reserved: Reservation[]
  /** The ids of the reservations whose records a person has removed, so that a person must decide about them. */
  surplus: Set<string>
}

/** The reservations that Events on Services report. */
async function surplusIn({ client }: Arena): Promise<Set<string>> {
  const told = (await listAll(client, events)).filter(({ reason }) => reason === 'SurplusReservation')
  return new Set(told.flatMap(({ message }) => /^Reservation (\S+)/.exec(message)?.[1] ?? []))
}

function liveOf({ all }: Seen): Service[] {
  return all.filter(
    ({ spec, metadata }) =>
      spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined && !metadata.deletionTimestamp,
  )
}

/** The Services that show each address. */
function shownIn(seen: Seen): Map<string, Key[]> {
  const shown = liveOf(seen).flatMap((service) => addressesOf(service).map((ip) => [ip, keyOf(service)] as const))
  const grouped = Map.groupBy(shown, ([address]) => address)
  return new Map([...grouped].map(([address, group]) => [address, group.map(([, key]) => key)]))
}

function addressesOf(service: Service): string[] {
  return ingressOf(service).flatMap(({ ip }) => ip ?? [])
}

function wrongInServices(seen: Seen): string[] {
  const { arena, all, records, reserved } = seen
  const facts = dialectOf(arena.stage.dialect)
  const byAddress = new Map(reserved.map((one) => [one.address, one]))
  const names = ({ id, tags }: Reservation, key: Key) =>
    id === arena.office.id || [key, ...secondKeys(key)].some((one) => tags.includes(serviceTag(facts, one)))
  const wrong: string[] = []
  for (const service of liveOf(seen).filter((one) => !isWaiting(one, records))) {
    const key = keyOf(service)
    const addresses = addressesOf(service)
    const { loadBalancerIP: first = '' } = service.spec
    if (addresses.length === 0) wrong.push(`${key} shows no address`)
    else if (!addresses.includes(first)) wrong.push(`${key} shows another address than it asks for`)
    if (!numbersOf(service).includes(addresses.length)) wrong.push(`${key} shows ${addresses.join(' and ')}`)
  }
  for (const [address, keys] of shownIn(seen)) {
    const reservation = byAddress.get(address)
    const holders = facts.holdersOf(arena.stage.cloud.control, address)
    for (const key of keys) {
      if (!reservation) wrong.push(`${key} shows ${address}, which is not reserved`)
      else if (!names(reservation, key))
        wrong.push(`${address} of ${key} names another (${reservation.tags.join(' ')})`)
    }
    if (keys.length > 1) wrong.push(`${keys.join(' and ')} show ${address}`)
    if (arena.nodes.names.length > 0 && (holders.length !== 1 || !holders.every(arena.nodes.has)))
      wrong.push(`${keys.join()}: ${address} leads to no node (${holders.join()})`)
  }
  for (const { metadata } of all) if (metadata.deletionTimestamp) wrong.push(`${metadata.name} is still terminating`)
  return wrong
}

function wrongInRecords(seen: Seen): string[] {
  const { arena, records } = seen
  const live = liveOf(seen)
  const owners = new Map(live.map((service) => [keyOf(service), service]))
  const wrong: string[] = []
  for (const record of records.filter((one) => !isSource(one))) {
    const { metadata, spec, status } = record
    const { namespace, name } = spec.claimRef ?? {}
    const owner = owners.get(`${namespace}/${name}`)
    if (!owner) wrong.push(`ElasticIP ${metadata.name} (${status?.phase}) has no Service`)
    else if (status?.phase !== 'Bound' && !mayBeMissing(metadata.name, live) && !isWaiting(owner, records))
      wrong.push(`ElasticIP ${metadata.name} is ${status?.phase}`)
  }
  const warm = records.filter(isWarm)
  // Without a Service the pool has no location.
  if (live.length > 0 && (warm.length !== arena.warmPool || !warm.every(isAvailable)))
    wrong.push(`the warm pool is ${warm.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`).join(', ')}`)
  return wrong
}

function wrongInCloud(seen: Seen): string[] {
  const { arena, records, reserved } = seen
  const shown = shownIn(seen)
  const warm = new Set(records.filter(isWarm).map(reservationIdOf))
  const wrong: string[] = []
  for (const { address, id, tags } of reserved) {
    const isOurs = tags.some((tag) => tag.startsWith('cluster=') && tag !== clusterTagOfOthers)
    if (!isOurs || warm.has(id) || seen.surplus.has(id)) continue
    if (!shown.has(address ?? '')) wrong.push(`reservation ${id} (${address}; ${tags.join(' ')}) has no Service`)
  }
  const ids = new Set(reserved.map(({ id }) => id))
  for (const id of warm) if (!ids.has(id ?? '')) wrong.push(`the warm reservation ${id} no longer exists`)
  for (const id of arena.ordered) if (!ids.has(id)) wrong.push(`reservation ${id}, which is not ours, no longer exists`)
  const { reserve, release } = dialectOf(arena.stage.dialect).routes
  for (const { caller, route } of [reserve, release].flatMap((on) => arena.stage.cloud.control.calls.all(on)))
    if (caller === otherCaller) wrong.push(`${route} was called for another account`)
  return wrong
}

/** Whether a Service has no address because it requests an ElasticIP that it cannot have. */
function isWaiting(service: Service, records: readonly ElasticIP[]): boolean {
  const name = service.metadata.annotations?.[elasticIPAnnotation]
  const source = records.find(({ metadata }) => metadata.name === name)
  return name !== undefined && addressesOf(service).length === 0 && !(source && isAvailable(source))
}

/** Deletes the Services that wait for an ElasticIP: only a person can end this wait. */
export async function removeWaiting({ client }: Arena): Promise<void> {
  const [all, records] = await Promise.all([listAll(client, services), listAll(client, elasticIPs)])
  for (const service of all.filter((one) => isWaiting(one, records))) await client.remove(services, service.metadata)
}

/**
 * How many addresses a Service may show at rest. If it only prefers a second one, this is tried every ten minutes. A
 * Service that names an ElasticIP keeps its single address if an unreviewed update makes it require two families.
 */
function numbersOf({ metadata, spec: { ipFamilyPolicy: policy, ipFamilies = [] } }: Service): number[] {
  if (ipFamilies.length < 2 || metadata.annotations?.[elasticIPAnnotation] !== undefined) return [1]
  return policy === 'RequireDualStack' ? [2] : [1, 2]
}

/** Whether the record is for a second address that its Service can do without. */
function mayBeMissing(record: string, live: Service[]): boolean {
  const prefers = live.filter(({ spec }) => spec.ipFamilyPolicy === 'PreferDualStack')
  return prefers.some((service) => secondKeys(keyOf(service)).map(recordName).includes(record))
}

/** The content of the cluster and the cloud, for a person who looks for the cause of a violation. */
export async function stateOf({ client, stage }: Arena): Promise<object> {
  return {
    services: await listAll(client, services),
    records: await listAll(client, elasticIPs),
    maps: await client.list(configMaps, { namespace: 'eip-admission' }),
    reservations: stage.cloud.control.reservations.all(),
    calls: stage.cloud.control.calls.all(),
  }
}

/**
 * Follows the log's advice for a cluster id that another cluster seems to use. Without the ledger's ConfigMap, a new
 * leader does not know its predecessor's heartbeats.
 */
async function confirmCluster({ client }: Arena): Promise<void> {
  const at = { namespace: 'eip-admission', name: installed.ledgerConfigMap }
  const { 'foreign-sign': heartbeat, 'foreign-alive': isAlive } = (await client.get(configMaps, at))?.data ?? {}
  if (heartbeat === undefined || isAlive === undefined) return
  await client.patch(configMaps, {
    ...at,
    patch: { merge: { metadata: { annotations: { [confirmAnnotation]: heartbeat } } } },
  })
}

/** Whether no address moves for two seconds. Without nodes no address moves, and the same calls may write marks. */
async function isStill({ stage, nodes }: Arena): Promise<boolean> {
  if (nodes.names.length === 0) return true
  const { calls } = stage.cloud.control
  const moves = () => dialectOf(stage.dialect).moves.reduce((sum, route) => sum + calls.count(route), 0)
  const before = moves()
  await sleep(2_000)
  return moves() === before
}

/** Ends all trouble and waits; returns what is still wrong after `withinMs`. */
export async function atRest(arena: Arena, withinMs: number): Promise<string[]> {
  const { faults, latency } = arena.stage.cloud.control
  faults.clear()
  latency.clear()
  await arena.nodes.recover()
  await Promise.all(arena.replicas.map((replica) => replica.recover()))
  await endFlips(arena)
  const endMs = performance.now() + withinMs
  for (;;) {
    const wrong = await violations(arena)
    if (wrong.length === 0 && (await isStill(arena))) return []
    if (performance.now() > endMs) return wrong.length > 0 ? wrong : ['addresses move, although all is well']
    if (arena.isCareless) await confirmCluster(arena)
    await sleep(250)
  }
}
