import { CloudError, type Reservation } from '../../clouds/ports/cloud.ts'
import {
  type ElasticIP,
  heldAddress,
  reservationIdOf,
  phaseOf,
  addressKeyOf,
  secondKeys,
} from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { type Failures, type OwnerDeps, warnOwner } from './failures.ts'
import { canonicalIpAddress, parseIpAddress } from '../../lib/ip-address.ts'
import { unusable } from '../claim/granted-address.ts'
import { hasSource, isAvailable, isWarm } from '../record/source.ts'
import type { Key } from '../../kube/objects.ts'
import { differsInRetention, markRetention } from '../record/find-reservation.ts'
import { lastingMarks, marksOf, ownerMark, ownerMarks, transferMarks, whoseIs } from '../record/marks.ts'

type Deps = LedgerDeps & OwnerDeps & { listRecords: () => ElasticIP[] }

/**
 * Reports each record whose address contradicts the provider's list or may not work, according to the provider.
 * Corrects only addresses that no Service has seen.
 */
export async function compareAddresses(
  deps: Deps,
  { reservations, failed }: { reservations: Reservation[]; failed: Failures },
  signal: AbortSignal,
): Promise<void> {
  for (const one of contradictions(reservations, deps.listRecords(), deps)) reportContradiction(deps, one)
  for (const one of outdatedWarm(reservations, deps.listRecords())) {
    await failed.isolate(() => readAnew(deps, one, signal))
  }
  const problems = await readProblems(deps, signal)
  for (const record of deps.listRecords()) {
    const problem = problems.get(reservationIdOf(record) ?? '')
    if (problem !== undefined) reportProblem(deps, { record, problem })
  }
}

/** Only the vendor knows which is right: the Service keeps the address that the network knows. */
function reportContradiction(deps: Deps, { record, message }: Contradiction): void {
  const text = `${message}: nothing is changed; ask ${deps.cloud.name} what is right`
  deps.log.error({ record: record.metadata.name }, text)
  warnOwner(deps, record, { reason: 'ContradictoryAddress', message: text })
}

/** Removes the address from a warm record, so that its controller reads the grant for the reservation again. */
async function readAnew({ records, cloud, log }: Deps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const { address, reservationID } = record.status ?? {}
  const message = `${cloud.name} lists another address than ${address} for reservation ${reservationID}`
  log.warn({ record: record.metadata.name, reason: message }, 'warm address is read again')
  await records.writeStatus(record, { phase: 'Requested', address: null, message }, { signal })
}

/** The answer only informs people, and the next sweep asks again. */
async function readProblems({ cloud, log }: Deps, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  try {
    return (await cloud.problems?.(signal)) ?? new Map<string, string>()
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    log.warn({ reason: error.message }, 'the provider does not say what is wrong with addresses')
    return new Map()
  }
}

/** The Service keeps its address: people know it, and only the vendor can fix it. */
function reportProblem(deps: Deps, { record, problem }: { record: ElasticIP; problem: string }): void {
  const { cloud, log } = deps
  const address = heldAddress(record)
  log.warn({ record: record.metadata.name, address: record.status?.address, problem }, 'an address may not work')
  const of = `${address} (reservation ${reservationIdOf(record)})`
  const message = `${cloud.name} reports for ${of}: ${problem}. The Service keeps it; ask ${cloud.name} why`
  if (address !== undefined) warnOwner(deps, record, { reason: 'AddressImpaired', message })
}

/** Two statements, by the provider's list and a record, that cannot both be right; for people. */
type Contradiction = { record: ElasticIP; message: string }

/**
 * Compares the provider's list with the records that hold an address. A record keeps its address, which the network
 * knows, and is named. Only a free warm record is read again, see `outdatedWarm`.
 */
export function contradictions(
  reservations: readonly Reservation[],
  records: readonly ElasticIP[],
  { clusterNetwork }: Pick<LedgerDeps, 'clusterNetwork'>,
): Contradiction[] {
  const listed = new Map(reservations.map((reservation) => [reservation.id, reservation]))
  const sameAddress = Map.groupBy(reservations, ({ address }) => canonicalIpAddress(address ?? ''))
  const holders = records.filter((record) => phaseOf(record) !== 'Releasing' && record.status?.address !== undefined)
  const sameReservation = Map.groupBy(holders, reservationIdOf)
  return holders.flatMap((record) => {
    const id = reservationIdOf(record)
    const reservation = id === undefined ? undefined : listed.get(id)
    // A network's record may have any address.
    if (!reservation?.address || reservation.prefixLength !== undefined) return []
    const address = record.status?.address ?? ''
    const rival = sameAddress.get(canonicalIpAddress(address))?.find((one) => one.id !== id)
    // A record shares its reservation with the available address that it came from.
    const other = sameReservation
      .get(id)
      ?.find((one) => one !== record && !hasSource(one, record) && !hasSource(record, one))
    const parsed = parseIpAddress(address)
    const problem = parsed && unusable(parsed, clusterNetwork)
    const texts = [
      problem !== undefined && `reservation ${id} is ${address}, which ${problem}`,
      canonicalIpAddress(reservation.address) !== canonicalIpAddress(address) &&
        `the provider lists ${reservation.address} for reservation ${id}, and the record has ${address}`,
      rival && `the provider lists ${address} in reservation ${rival.id} as well as in ${id}`,
      other && `ElasticIP ${other.metadata.name} has reservation ${id} as well`,
    ]
    return texts.filter((text) => typeof text === 'string').map((message) => ({ record, message }))
  })
}

/** The free warm records whose reservation the provider lists with another address: no Service has seen theirs. */
export function outdatedWarm(reservations: readonly Reservation[], records: readonly ElasticIP[]): ElasticIP[] {
  const listed = new Map(reservations.map(({ id, address }) => [id, canonicalIpAddress(address ?? '')]))
  return records.filter((record) => {
    const address = listed.get(reservationIdOf(record) ?? '')
    const isFree = isWarm(record) && isAvailable(record)
    return isFree && address && address !== canonicalIpAddress(record.status?.address ?? '')
  })
}

/** How many reservations one sweep marks for each reason. Each costs one or two calls, and nothing waits for them. */
const mostAtOnce = 10

type MarkDeps = Pick<LedgerDeps, 'cloud' | 'scheme' | 'sweepsUntagged' | 'log'>
type Compared = { reservations: Reservation[]; records: ElasticIP[] }

/**
 * Writes into the marks of reservations whether the address outlives its Service, as the records say. Then losing the
 * records, as with their CRD, loses no retained address.
 */
export async function markRetained(
  deps: MarkDeps,
  { reservations, records }: Compared,
  signal: AbortSignal,
): Promise<void> {
  const listed = new Map(reservations.map((one) => [one.id, one]))
  const differing = records.flatMap((record) => {
    const reservation = listed.get(reservationIdOf(record) ?? '')
    const one = reservation && { record, reservation, retained: record.spec.reclaimPolicy === 'Retain' }
    return one && decidesRetention(record) && differsInRetention(deps, one) ? [one] : []
  })
  for (const one of differing.slice(0, mostAtOnce)) {
    try {
      await markRetention(deps, one, signal)
    } catch (error) {
      if (!(error instanceof CloudError)) throw error
      // The records still say it, so the sweep does not fail.
      const facts = { reservation: one.reservation.id, error: error.message }
      deps.log.warn(facts, 'the marks do not say yet whether the address is retained')
      // The next ones would wait as long, and delay the rest of the sweep.
      if (error.fault === 'unavailable' || error.fault === 'rate-limit') return
    }
  }
}

/**
 * Restores the marks of records that name an owner unknown to this cluster. Until then, the address is neither moved
 * nor deleted. Either the provider or a person changed the marks. Or two writes raced, and the one that detached the
 * warm address came first.
 */
export async function repairMarks(
  deps: MarkDeps,
  { reservations, records, services }: Compared & { services: readonly Key[] },
  signal: AbortSignal,
): Promise<void> {
  const { cloud, scheme, log } = deps
  const keys = [
    ...services.flatMap((key) => [key, ...secondKeys(key)]),
    ...records.flatMap((one) => addressKeyOf(one) ?? []),
  ]
  const owners = new Set(keys.flatMap((key) => ownerMarks(scheme, key)))
  for (const { metadata } of records) owners.add(metadata.uid ?? '')
  const listed = new Map(reservations.map((one) => [one.id, one]))
  const damaged = records.flatMap((record) => {
    const found = listed.get(reservationIdOf(record) ?? '')
    if (found?.address === undefined || found.address !== record.status?.address) return []
    const owner = ownerMark(found.marks)
    if (owner === undefined || owners.has(owner)) return []
    const { whose } = whoseIs(deps, record, found)
    const isWarmStill = whose === 'ours' && addressKeyOf(record) !== undefined && record.spec.source === undefined
    return whose === 'service' || isWarmStill ? [{ record, found }] : []
  })
  for (const { record, found } of damaged.slice(0, mostAtOnce)) {
    const facts = { record: record.metadata.name, reservation: found.id, marks: found.marks }
    log.warn(facts, 'the marks of a reservation name no owner of this cluster; they are written again')
    const key = addressKeyOf(record)
    const marks = key === undefined ? marksOf(scheme, record) : transferMarks(scheme, key)
    await cloud.mark({ id: found.id, marks: lastingMarks(found.marks) }, marks, signal)
  }
}

/** For a provisioned address, its own ElasticIP decides. */
function decidesRetention(record: ElasticIP): boolean {
  const isGoing = phaseOf(record) === 'Releasing' || record.metadata.deletionTimestamp !== undefined
  return record.spec.source?.type !== 'Provisioned' && !isWarm(record) && !isGoing
}
