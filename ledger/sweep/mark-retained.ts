import { CloudError, type Reservation } from '../../clouds/ports/cloud.ts'
import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { differsInRetention, markRetention } from '../record/find-reservation.ts'
import { isWarm } from '../record/source.ts'

/** How many reservations one sweep marks: each costs a call, or two, and nothing waits for them. */
const mostAtOnce = 10

type Deps = Pick<LedgerDeps, 'cloud' | 'scheme' | 'sweepsUntagged' | 'log'>
type Compared = { reservations: Reservation[]; records: ElasticIP[] }

/**
 * Writes into the marks of reservations what their records say: whether the address stays when its Service goes. Whoever
 * loses the records, as with their definition, then loses no retained address.
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
      // The records still say it: no sweep fails for this.
      const facts = { reservation: one.reservation.id, error: error.message }
      deps.log.warn(facts, 'the marks do not say yet whether the address is retained')
      // The next ones would wait as long, and the rest of the sweep with them.
      if (error.fault === 'unavailable' || error.fault === 'rate-limit') return
    }
  }
}

/** Of a provisioned address its own ElasticIP decides. */
function decidesRetention(record: ElasticIP): boolean {
  const isGoing = phaseOf(record) === 'Releasing' || record.metadata.deletionTimestamp !== undefined
  return record.spec.source?.type !== 'Provisioned' && !isWarm(record) && !isGoing
}
