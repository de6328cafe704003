import { CloudError, type Reservation } from '../../clouds/ports/cloud.ts'
import { hasMarks } from '../../clouds/ports/marks.ts'
import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { markRetention } from '../record/find-reservation.ts'
import { clusterMarks, isRetained } from '../record/marks.ts'
import { isWarm } from '../record/source.ts'

/** How many reservations one sweep marks: each costs a call, or two, and nothing waits for them. */
const mostAtOnce = 10

type Deps = Pick<LedgerDeps, 'cloud' | 'scheme' | 'log'>
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
  const policies = retainedById(records)
  const differing = reservations.flatMap((reservation) => {
    const retained = policies.get(reservation.id)
    const isDue = retained !== undefined && retained !== isRetained(reservation.marks)
    return isDue && hasMarks(reservation.marks, clusterMarks(deps.scheme)) ? [{ reservation, retained }] : []
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

/** What records say, by the ids of their reservations. Of a provisioned address its own ElasticIP decides. */
function retainedById(records: ElasticIP[]): Map<string, boolean> {
  const deciding = records.filter((record) => record.spec.source?.type !== 'Provisioned' && !isWarm(record))
  return new Map(
    deciding.flatMap((record) => {
      const id = reservationIdOf(record)
      const isGoing = phaseOf(record) === 'Releasing' || record.metadata.deletionTimestamp !== undefined
      return id === undefined || isGoing ? [] : [[id, record.spec.reclaimPolicy === 'Retain'] as const]
    }),
  )
}
