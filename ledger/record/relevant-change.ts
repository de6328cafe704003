import { type ElasticIP, phaseOf, reservationIdOf } from './elastic-ip.ts'
import { transferAnnotation } from './names.ts'

/**
 * Whether a controller must reconcile a record after a change. A failed request to the provider is no such change: its
 * sender retries after a back-off. Reconciling at once would send requests without end.
 */
export function isRelevantChange(current: ElasticIP | undefined, previous: ElasticIP | undefined): boolean {
  if (current && previous) return relevantFields(current) !== relevantFields(previous)
  return hasReservation(current ?? previous)
}

/** A record without a reservation is created for a request, and deleted if the provider refuses it. */
function hasReservation(record: ElasticIP | undefined): boolean {
  return record !== undefined && (phaseOf(record) !== 'Requested' || reservationIdOf(record) !== undefined)
}

function relevantFields({ metadata, spec, status = {} }: ElasticIP): string {
  const { phase = 'Requested', address, reservationID, deletionRequestedAt } = status
  return JSON.stringify([
    metadata.labels,
    metadata.annotations?.[transferAnnotation],
    metadata.deletionTimestamp,
    spec,
    phase,
    address,
    reservationID,
    deletionRequestedAt,
  ])
}
