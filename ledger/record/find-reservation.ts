import type { Reservation } from '../../clouds/ports/cloud.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { type IpFamily, parseIpAddress } from '../../lib/ip-address.ts'
import { isShownBy, showsNone } from './address-use.ts'
import {
  type ElasticIP,
  addressKeyOf,
  familyOf,
  releaseRecordName,
  reservationIdOf,
  serviceOfAddress,
} from './elastic-ip.ts'
import type { LedgerDeps } from './ledger-deps.ts'
import {
  adoptionMarks,
  clusterMarks,
  isOfService,
  isRetained,
  lastingMarks,
  marksOf,
  namedCluster,
  retentionMarks,
  clusterTransferMarks,
  marksText,
  type WhoseRules,
  whoseIs,
} from './marks.ts'
import { hasSource, isSource, isWarm } from './source.ts'
import { transferAnnotation } from './names.ts'

type FindDeps = Pick<LedgerDeps, 'cloud' | 'records' | 'scheme' | 'sweepsUntagged'>

/**
 * Finds the provider's reservation for a record: by its id, else the oldest that carries its marks. A reservation that
 * a person named may carry any marks; the caller judges it.
 */
export async function findReservation(
  deps: FindDeps,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | undefined> {
  const id = reservationIdOf(record)
  const byId = id === undefined ? undefined : await deps.cloud.reservation(id, signal)
  if (byId && (record.status?.reservationID === undefined || whoseIs(deps, record, byId).whose === 'ours')) return byId
  const marked = (await listMarked(deps, record, signal)).filter((one) => hasFamily(one, familyOf(record)))
  const free = marked.length === 0 ? marked : withoutProvisioned(marked, await deps.records.list({ signal }), record)
  for (const reservation of oldestFirst(free)) {
    if (!(await isBeingReleased(deps, reservation.id, signal))) return reservation
  }
  return undefined
}

/** Whether a reservation's address is of this family, or not known yet. */
export function hasFamily({ address }: Reservation, family: IpFamily): boolean {
  return address === undefined || parseIpAddress(address)?.family === family
}

/** Leaves out the reservations of provisioned ElasticIPs: after a move from a Service they keep that Service's marks. */
function withoutProvisioned(marked: Reservation[], all: readonly ElasticIP[], record: ElasticIP): Reservation[] {
  const provisioned = all.filter((other) => isSource(other) && !isWarm(other) && !hasSource(record, other))
  const ids = new Set(provisioned.filter(({ metadata }) => metadata.name !== record.metadata.name).map(reservationIdOf))
  return marked.filter(({ id }) => !ids.has(id))
}

/** The reservations that carry a record's marks, in any form of a Service's mark. */
async function listMarked({ cloud, scheme }: FindDeps, record: ElasticIP, signal: AbortSignal): Promise<Reservation[]> {
  const key = addressKeyOf(record)
  if (key === undefined) return cloud.reservations(marksOf(scheme, record), signal)
  const listed = await cloud.reservations(clusterMarks(scheme), signal)
  return listed.filter(({ marks }) => isOfService(scheme, key, marks))
}

/** Whether a reservation has a release record. Then no Service may get it, although the provider may still list it. */
export async function isBeingReleased(
  deps: Pick<LedgerDeps, 'records'>,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (await deps.records.get(releaseRecordName(id), { signal })) !== undefined
}

/**
 * Finds a predecessor's reservation for a record's Service, and adds our cluster's mark. The reservation names no
 * cluster, and another cluster may have a Service of that name, so `mayAdopt` decides. No other record may have it.
 */
export async function adoptUnmarked(
  deps: Pick<LedgerDeps, 'cloud' | 'scheme' | 'sweepsUntagged' | 'possibleUsers'>,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | undefined> {
  const { cloud, scheme } = deps
  const key = addressKeyOf(record)
  if (!scheme.adoptsUnmarked || key === undefined) return undefined
  const listed = await cloud.reservations({ usage: scheme.usage }, signal)
  const unmarked = listed.filter(
    ({ marks }) => namedCluster(scheme, marks) === 'none' && isOfService(scheme, key, marks),
  )
  if (unmarked.length === 0) return undefined
  const { services, records, requestAnnotations } = await deps.possibleUsers(signal)
  const others = records.filter(({ metadata }) => metadata.name !== record.metadata.name)
  const known = new Set(others.map(reservationIdOf))
  const service = services.find((one) => keyOf(one) === serviceOfAddress(key))
  const rules = { ...deps, requestAnnotations }
  const free = unmarked.filter(({ id }) => !known.has(id))
  const [oldest] = oldestFirst(free.filter((reservation) => mayAdopt(rules, reservation, service)))
  if (oldest) await markAsOurs(deps, oldest, signal)
  return oldest
}

/**
 * Whether a reservation without a record may go to the Service or the waiting record that its marks name. Pure. If it
 * names no cluster, it may be for another cluster's Service of that name. It is ours if our Service shows or requests
 * its address, or if the operator says that no other cluster uses the project.
 */
export function mayAdopt(
  { scheme, sweepsUntagged, requestAnnotations }: WhoseRules & { requestAnnotations: readonly string[] },
  reservation: Reservation,
  service: Service | undefined,
): boolean {
  const named = namedCluster(scheme, reservation.marks)
  if (named !== 'none') return named === 'ours'
  if (service && isShownBy(service, reservation, requestAnnotations)) return true
  return sweepsUntagged && (!service || showsNone(service))
}

/** Adds our cluster's mark to a reservation that names no cluster, so that other clusters ignore it. */
export async function markAsOurs(
  deps: Pick<LedgerDeps, 'cloud' | 'scheme'>,
  { id, marks }: Reservation,
  signal: AbortSignal,
): Promise<void> {
  if (namedCluster(deps.scheme, marks) !== 'none') return
  await deps.cloud.mark({ id, marks: lastingMarks(marks) }, adoptionMarks(deps.scheme), signal)
}

/** Whether a reservation's marks differ from `retained`, which says whether the address outlives its Service. */
export function differsInRetention(
  rules: WhoseRules,
  { record, reservation, retained }: { record: ElasticIP; reservation: Reservation; retained: boolean },
): boolean {
  // A reservation that does not name us keeps its marks.
  const isMarked = namedCluster(rules.scheme, reservation.marks) === 'ours'
  return isMarked && whoseIs(rules, record, reservation).whose === 'ours' && isRetained(reservation.marks) !== retained
}

/** Marks whether the reservation of a record outlives its Service. */
export async function markRetention(
  deps: Pick<LedgerDeps, 'cloud'> & WhoseRules,
  of: { record: ElasticIP; reservation: Reservation; retained: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { id, marks } = of.reservation
  if (!differsInRetention(deps, of)) return
  await deps.cloud.mark({ id, marks: lastingMarks(marks) }, retentionMarks(of.retained), signal)
}

/** Finds a reservation by its id, else in the project's list: a 404 alone does not prove that it is deleted. */
export async function findCertainly(
  { cloud }: Pick<FindDeps, 'cloud'>,
  id: string,
  signal: AbortSignal,
): Promise<Reservation | undefined> {
  return (await cloud.reservation(id, signal)) ?? (await cloud.reservations({}, signal)).find((one) => one.id === id)
}

function oldestFirst(reservations: Reservation[]): Reservation[] {
  return reservations
    .filter(({ state }) => state !== 'denied')
    .toSorted((a, b) => (a.createdAt ?? '').localeCompare(b.createdAt ?? ''))
}

/** Why a reservation that a person named cannot be used: it is another cluster's, or more than one address. */
export function unusableReason(
  { scheme }: Pick<LedgerDeps, 'scheme'>,
  { metadata }: ElasticIP,
  { id, address, prefixLength, marks }: Reservation,
): string | undefined {
  const { cluster: other } = marks
  if (namedCluster(scheme, marks) === 'other' && metadata.annotations?.[transferAnnotation] !== other) {
    return (
      `reservation ${id} belongs to another cluster according to its marks (${marksText(marks)}); name one of this cluster's. ` +
      `To take it from that cluster: \`kubectl annotate eip ${metadata.name} ${transferAnnotation}=${other}\``
    )
  }
  if (prefixLength === undefined) return undefined
  const block = `${address}/${prefixLength}`
  return `reservation ${id} is the network ${block}; an ElasticIP is one address: name a reservation of a single address`
}

/**
 * Writes the record's marks on a reservation that a person named, if its present marks name another owner. This comes
 * first: from then on no other cluster deletes the reservation, and ours moves and releases it as the record's own.
 */
export async function takeNamed(
  { cloud, scheme, sweepsUntagged, log }: Pick<LedgerDeps, 'cloud' | 'scheme' | 'sweepsUntagged' | 'log'>,
  { record, found }: { record: ElasticIP; found: Reservation },
  signal: AbortSignal,
): Promise<void> {
  const { whose } = whoseIs({ scheme, sweepsUntagged }, record, found)
  if (whose !== 'cluster' && whose !== 'service') return
  const { id, address, marks } = found
  const own = addressKeyOf(record) === undefined ? {} : marksOf(scheme, record)
  await cloud.mark({ id, marks: lastingMarks(marks) }, { ...clusterTransferMarks(scheme), ...own }, signal)
  log.warn(
    { reservation: id, address, marks },
    'the marks named another owner of this reservation; now they name its record',
  )
}
