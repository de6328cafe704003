import type { Reservation } from '../../clouds/ports/cloud.ts'
import { parseIpAddress } from '../../lib/ip-address.ts'
import type { Key } from '../../kube/objects.ts'
import type { Identity } from '../identity/identity.ts'
import { type ElasticIP, recordName, reservationIdOf, secondKey } from '../record/elastic-ip.ts'
import { findReservation, markRetention } from '../record/find-reservation.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { newRecord } from '../record/records.ts'
import { adopt } from './adopt.ts'

export type RecoverDeps = LedgerDeps & Pick<Identity, 'haltReason'>

/**
 * Restores the records of a Service whose addresses are to be retained, if the provider still has them. Buys nothing.
 * False if there is nothing to write and its first address has no record.
 */
export async function recoverRecords(
  deps: RecoverDeps,
  { service, address }: { service: Key; address: string },
  signal: AbortSignal,
): Promise<boolean> {
  const reason = await deps.haltReason(signal)
  if (reason !== undefined) throw new Error(`its address is not retained yet: ${reason}`)
  const records = await deps.records.list({ signal })
  const names = new Set(records.map(({ metadata }) => metadata.name))
  // A reservation of another record is no orphan: it is kept without us.
  const known = new Set(records.map(reservationIdOf))
  let isRecovered = names.has(recordName(service))
  for (const { key, spec } of addressesOf(service, address)) {
    if (names.has(recordName(key))) continue
    const record = newRecord(key, spec, deps)
    const reservation = await findReservation(deps, record, signal)
    if (!reservation || known.has(reservation.id)) continue
    const adopting = { ...deps, listRecords: () => records, reclaimPolicy: spec.reclaimPolicy }
    if (await adopt(adopting, { key, reservation, record: undefined }, signal)) isRecovered = true
    else await retainByMarks(deps, { record, reservation }, signal)
  }
  return isRecovered
}

/** Another Service shows the address, or a process was faster: only the marks retain it, and the Service may be deleted. */
async function retainByMarks(
  deps: RecoverDeps,
  of: { record: ElasticIP; reservation: Reservation },
  signal: AbortSignal,
): Promise<void> {
  const { id, address } = of.reservation
  await markRetention(deps, { ...of, retained: true }, signal)
  deps.log.warn({ reservation: id, address }, 'retained without an ElasticIP: its reservation could not be adopted')
}

/** The addresses that a Service may have had: the one that it shows, and one of the other family. */
function addressesOf(service: Key, address: string) {
  const second = parseIpAddress(address)?.family === 'ipv6' ? 'ipv4' : 'ipv6'
  const [ipv4, ipv6] = [{ reclaimPolicy: 'Retain' }, { reclaimPolicy: 'Retain', ipFamily: 'IPv6' }] as const
  return [
    { key: service, spec: second === 'ipv6' ? ipv4 : ipv6 },
    { key: secondKey(service, second), spec: second === 'ipv6' ? ipv6 : ipv4 },
  ]
}
