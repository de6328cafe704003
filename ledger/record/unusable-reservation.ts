import type { Reservation } from '../../clouds/ports/cloud.ts'
import { type ElasticIP, addressKeyOf } from './elastic-ip.ts'
import type { LedgerDeps } from './ledger-deps.ts'
import { clusterTransferMarks, lastingMarks, marksOf, marksText, namedCluster } from './marks.ts'
import { transferAnnotation } from './names.ts'
import { whoseIs } from './whose.ts'

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
