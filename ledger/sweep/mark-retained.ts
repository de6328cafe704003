import { CloudError, type Reservation } from '../../clouds/ports/cloud.ts'
import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { clusterOfOthers, isRetained, isUnmarked, lastingMarks, retentionMarks } from '../record/marks.ts'
import { isWarm } from '../record/source.ts'

/** How many reservations one sweep marks: each costs a call, or two, and nothing waits for them. */
const mostAtOnce = 10

type Compared = { reservations: Reservation[]; records: ElasticIP[] }

/**
 * Writes into the marks of reservations what their records say: whether the address stays when its Service goes. Whoever
 * loses the records, as with their definition, then loses no retained address.
 */
export async function markRetained(
  { cloud, scheme, log }: Pick<LedgerDeps, 'cloud' | 'scheme' | 'log'>,
  { reservations, records }: Compared,
  signal: AbortSignal,
): Promise<void> {
  const retained = retainedById(records)
  const isOurs = ({ marks }: Reservation) => clusterOfOthers(scheme, marks) === undefined && !isUnmarked(scheme, marks)
  const differing = reservations.filter(
    (one) => isOurs(one) && retained.has(one.id) && retained.get(one.id) !== isRetained(one.marks),
  )
  for (const { id, marks } of differing.slice(0, mostAtOnce)) {
    try {
      await cloud.mark({ id, marks: lastingMarks(marks) }, retentionMarks(retained.get(id) ?? false), signal)
    } catch (error) {
      if (!(error instanceof CloudError)) throw error
      // The records still say it: no sweep fails for this.
      log.warn({ reservation: id, error: error.message }, 'the marks do not say yet whether the address is retained')
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
