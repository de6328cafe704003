import type { Reservation } from '../../clouds/ports/cloud.ts'
import { hasMarks } from '../../clouds/ports/marks.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { type IpFamily, canonicalIpAddress, parseIpAddress } from '../../lib/ip-address.ts'
import { shownAddresses } from './address-use.ts'
import {
  type AddressKey,
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
  isUnmarked,
  lastingMarks,
  marksOf,
  retentionMarks,
} from './marks.ts'
import { hasSource, isSource, isWarm } from './source.ts'

type FindDeps = Pick<LedgerDeps, 'cloud' | 'records' | 'scheme'>

/** Finds the reservation that the cloud has for a record: by its id, else the oldest that carries its marks. */
export async function findReservation(
  deps: FindDeps,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | undefined> {
  const id = reservationIdOf(record)
  const byId = id === undefined ? undefined : await deps.cloud.reservation(id, signal)
  if (byId) return byId
  const marked = (await listMarked(deps, record, signal)).filter((one) => hasFamily(one, familyOf(record)))
  const free = marked.length === 0 ? marked : withoutProvisioned(marked, await deps.records.list({ signal }), record)
  for (const reservation of oldestFirst(free)) {
    if (!(await isBeingReleased(deps, reservation.id, signal))) return reservation
  }
  return undefined
}

/** Whether the address of a reservation is of this family, as far as it is known. */
export function hasFamily({ address }: Reservation, family: IpFamily): boolean {
  return address === undefined || parseIpAddress(address)?.family === family
}

/** Without those of provisioned ElasticIPs: one that was moved from a Service keeps the marks of that Service. */
function withoutProvisioned(marked: Reservation[], all: readonly ElasticIP[], record: ElasticIP): Reservation[] {
  const provisioned = all.filter((other) => isSource(other) && !isWarm(other) && !hasSource(record, other))
  const ids = new Set(provisioned.filter(({ metadata }) => metadata.name !== record.metadata.name).map(reservationIdOf))
  return marked.filter(({ id }) => !ids.has(id))
}

/** The reservations that carry a record's marks, a Service's in every form. */
async function listMarked({ cloud, scheme }: FindDeps, record: ElasticIP, signal: AbortSignal): Promise<Reservation[]> {
  const key = addressKeyOf(record)
  if (key === undefined) return cloud.reservations(marksOf(scheme, record), signal)
  const listed = await cloud.reservations(clusterMarks(scheme), signal)
  return listed.filter(({ marks }) => isOfService(scheme, key, marks))
}

/** Whether a release record exists for a reservation: then no Service may get it, although the cloud may still list it. */
export async function isBeingReleased(
  deps: Pick<LedgerDeps, 'records'>,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (await deps.records.get(releaseRecordName(id), { signal })) !== undefined
}

/**
 * Finds a predecessor's reservation for a record's Service that names no cluster, and marks it with our cluster. Another
 * cluster may have a Service of that name, so ours has to show the address.
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
  const unmarked = listed.filter(({ marks }) => isUnmarked(scheme, marks) && isOfService(scheme, key, marks))
  const [oldest] = oldestFirst(unmarked.length === 0 ? [] : await provenOurs(deps, { key, unmarked }, signal))
  if (oldest) await markAsOurs(deps, oldest, signal)
  return oldest
}

async function provenOurs(
  deps: Pick<LedgerDeps, 'sweepsUntagged' | 'possibleUsers'>,
  { key, unmarked }: { key: AddressKey; unmarked: Reservation[] },
  signal: AbortSignal,
): Promise<Reservation[]> {
  if (deps.sweepsUntagged) return unmarked
  const { services, requestAnnotations } = await deps.possibleUsers(signal)
  const service = services.find((one) => keyOf(one) === serviceOfAddress(key))
  return unmarked.filter((reservation) => service && isShownBy(service, reservation, requestAnnotations))
}

/** Whether a Service shows the address of a reservation. */
export function isShownBy(service: Service, { address }: Reservation, requestAnnotations: readonly string[]): boolean {
  const canonical = canonicalIpAddress(address ?? '')
  return shownAddresses(service, requestAnnotations).some((shown) => shown.address === canonical)
}

/** Marks a reservation that names no cluster with our cluster: other clusters leave it alone from then on. */
export async function markAsOurs(
  deps: Pick<LedgerDeps, 'cloud' | 'scheme'>,
  { id, marks }: Reservation,
  signal: AbortSignal,
): Promise<void> {
  if (isUnmarked(deps.scheme, marks)) await deps.cloud.mark({ id }, adoptionMarks(deps.scheme), signal)
}

/** Writes into the marks of a reservation whether it stays when its Service goes. One that does not name us keeps its marks. */
export async function markRetention(
  { cloud, scheme }: Pick<LedgerDeps, 'cloud' | 'scheme'>,
  { reservation: { id, marks }, retained }: { reservation: Reservation; retained: boolean },
  signal: AbortSignal,
): Promise<void> {
  if (!hasMarks(marks, clusterMarks(scheme)) || isRetained(marks) === retained) return
  await cloud.mark({ id, marks: lastingMarks(marks) }, retentionMarks(retained), signal)
}

/** Finds a reservation by its id, else in the list of the project; undefined is a proof that it is gone. */
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
