import { CloudError, type Reservation } from '../../clouds/ports/cloud.ts'
import { type ElasticIP, heldAddress, reservationIdOf, phaseOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { type Failures, type OwnerDeps, warnOwner } from './failures.ts'
import { canonicalIpAddress, parseIpAddress } from '../../lib/ip-address.ts'
import { unusable } from '../claim/granted-address.ts'
import { hasSource, isAvailable, isWarm } from '../record/source.ts'

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
