import { CloudError, type Reservation } from '../../clouds/ports/cloud.ts'
import type { Key } from '../../kube/objects.ts'
import { type ElasticIP, addressKeyOf, phaseOf, reservationIdOf, secondKeys } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { differsInRetention, markRetention } from '../record/find-reservation.ts'
import { lastingMarks, marksOf, ownerMark, ownerMarks, transferMarks } from '../record/marks.ts'
import { isWarm } from '../record/source.ts'
import { whoseIs } from '../record/whose.ts'

/** How many reservations one sweep marks for each reason. Each costs one or two calls, and nothing waits for them. */
const mostAtOnce = 10

type Deps = Pick<LedgerDeps, 'cloud' | 'scheme' | 'sweepsUntagged' | 'log'>
type Compared = { reservations: Reservation[]; records: ElasticIP[] }

/**
 * Writes into the marks of reservations whether the address outlives its Service, as the records say. Then losing the
 * records, as with their CRD, loses no retained address.
 */
export async function markRetained(
  deps: Deps,
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
  deps: Deps,
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
