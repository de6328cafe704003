import type { Reservation } from '../../clouds/ports/cloud.ts'
import type { ElasticIP } from './elastic-ip.ts'
import type { LedgerDeps } from './ledger-deps.ts'
import { clusterOfOthers, clusterTransferMarks, marksText } from './marks.ts'
import { transferAnnotation } from './names.ts'

/** Why a reservation that a person named cannot be used: it is another cluster's, or more than one address. */
export function unusableReason(
  { scheme }: Pick<LedgerDeps, 'scheme'>,
  { metadata }: ElasticIP,
  { id, address, prefixLength, marks }: Reservation,
): string | undefined {
  const other = clusterOfOthers(scheme, marks)
  if (other !== undefined && metadata.annotations?.[transferAnnotation] !== other) {
    return (
      `reservation ${id} is another cluster's by its marks (${marksText(marks)}); name one of this cluster's. ` +
      `If that cluster shall lose it: kubectl annotate eip ${metadata.name} ${transferAnnotation}=${other}`
    )
  }
  if (prefixLength === undefined) return undefined
  const block = `${address}/${prefixLength}`
  return `reservation ${id} is the network ${block}; an ElasticIP is one address: name a reservation of a single address`
}

/** Changes the marks of another cluster's reservation to ours, before anything else: from then on it does not delete it. */
export async function takeFromCluster(
  { cloud, scheme, log }: Pick<LedgerDeps, 'cloud' | 'scheme' | 'log'>,
  { id, address, marks }: Reservation,
  signal: AbortSignal,
): Promise<void> {
  if (clusterOfOthers(scheme, marks) === undefined) return
  await cloud.mark({ id }, clusterTransferMarks(scheme), signal)
  log.warn({ reservation: id, address, marks }, "another cluster's reservation taken over")
}
