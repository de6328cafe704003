import { type ElasticIP, phaseOf, reservationIdOf } from './elastic-ip.ts'

/**
 * Whether a change of a record is news for who looks after it. That a question was put and came to nothing is not: its
 * author knows, and will ask again in a while; looking at once would be asking without end.
 */
export function isRelevantChange(current: ElasticIP | undefined, previous: ElasticIP | undefined): boolean {
  if (current && previous) return outline(current) !== outline(previous)
  return hasCome(current ?? previous)
}

/** A record that was only ever asked for comes and goes with the question. */
function hasCome(record: ElasticIP | undefined): boolean {
  return record !== undefined && (phaseOf(record) !== 'Requested' || reservationIdOf(record) !== undefined)
}

function outline({ metadata, spec, status = {} }: ElasticIP): string {
  const { phase = 'Requested', address, reservationID, deletionRequestedAt } = status
  return JSON.stringify([
    metadata.labels,
    metadata.deletionTimestamp,
    spec,
    phase,
    address,
    reservationID,
    deletionRequestedAt,
  ])
}
