// Services of one namespace may share an address. When the Service with the record gives it up, the record passes to
// another Service: nothing is released, and nothing is bought. Records are named after their Services, so the heir gets
// its own record. Each step is safe to repeat, and the next release continues after a process that died:
//
// 1. The heir's record names the reservation. Until the next step, the previous record still holds it.
// 2. The previous record gives it up. A release at this point finds it by its marks, and writes it back.
// 3. The marks name the heir. A release at this point removes the previous record, and a sweep adopts for the heir.
// 4. The heir's record is bound. A release at this point removes the previous record.
// 5. The previous record is removed.
import type { Reservation } from '../../clouds/ports/cloud.ts'
import { isAlreadyExists, isConflict } from '../../kube/errors.ts'
import { type Key, type Service, keyOf } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { statusAddresses } from '../record/address-use.ts'
import {
  type ElasticIP,
  type ReclaimPolicy,
  claimKey,
  familyOf,
  heldAddress,
  provisionedSourceOf,
  reservationIdOf,
} from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { isOfService, lastingMarks, namedCluster, transferMarks, type WhoseRules, whoseIs } from '../record/marks.ts'
import { isAdoptionBegun, newRecord } from '../record/records.ts'
import { assigned } from '../record/status.ts'
import { isSource } from '../record/source.ts'
import { compareUse, requestsAsOwn } from '../want/own-address-rules.ts'
import type { Want } from '../want/want.ts'
import { defined } from '../../lib/json.ts'

export type HeirFacts = {
  services: readonly Service[]
  /** The record of a Service's first address. */
  recordOf: (key: Key) => ElasticIP | undefined
  want: (service: Service) => Want
}

/**
 * The Service to which a record passes when its own gives it up. Pure. A Service whose record was begun comes first,
 * then one that shows the address, then the oldest.
 */
export function heirOf(record: ElasticIP, { services, recordOf, want }: HeirFacts): Service | undefined {
  const { claimRef } = record.spec
  const { address, deletionRequestedAt } = record.status ?? {}
  const isLent = isSource(record) || provisionedSourceOf(record) !== undefined
  if (isLent || address === undefined || deletionRequestedAt !== undefined) return undefined
  const isBegun = (service: Service) => {
    const its = recordOf(keyOf(service))
    return its && isAdoptionBegun(its) && reservationIdOf(its) === reservationIdOf(record)
  }
  const canonical = canonicalIpAddress(address) ?? address
  const isHeir = (service: Service) => {
    const { namespace, deletionTimestamp } = service.metadata
    if (namespace !== claimRef?.namespace || keyOf(service) === claimKey(record) || deletionTimestamp) return false
    if (!requestsAsOwn(want(service), canonical)) return false
    return recordOf(keyOf(service)) === undefined || isBegun(service)
  }
  return services
    .filter(isHeir)
    .toSorted((a, b) => Number(isBegun(b) ?? false) - Number(isBegun(a) ?? false) || compareUse(a, b, canonical))[0]
}

/**
 * The Service to which a reservation passes when its own Service and record are deleted. Pure. Marks name no namespace,
 * so there is no heir if Services of several namespaces show the address.
 */
export function heirOfOrphan(
  { address = '', state }: Reservation,
  { services, hasRecord }: { services: { service: Service; wanted: Want }[]; hasRecord: (key: Key) => boolean },
): Service | undefined {
  const canonical = canonicalIpAddress(address) ?? address
  const shown = services.filter(({ service }) => statusAddresses(service).includes(canonical))
  const isOneNamespace = new Set(shown.map(({ service }) => service.metadata.namespace)).size === 1
  if (state !== 'reserved' || !isOneNamespace) return undefined
  return shown
    .filter(({ service, wanted }) => requestsAsOwn(wanted, canonical) && !hasRecord(keyOf(service)))
    .map(({ service }) => service)
    .toSorted((a, b) => compareUse(a, b, canonical))[0]
}

/** Whether a record may pass its reservation on, or a process that died has already passed it to the heir. */
export function canPassOn(rules: WhoseRules, { record, heir, found }: Omit<Passing, 'reclaimPolicy'>): boolean {
  return whoseIs(rules, record, found).whose === 'ours' || isOfService(rules.scheme, keyOf(heir), found.marks)
}

export type Passing = { record: ElasticIP; heir: Service; found: Reservation; reclaimPolicy: ReclaimPolicy }

/** Passes a Releasing record on to its heir. Throws a conflict if the previous Service claimed it again. */
export async function passOn(
  deps: LedgerDeps,
  { record, heir, found, reclaimPolicy }: Passing,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf(heir)
  const { address } = record.status ?? {}
  const begun = await begin(deps, { record, heir, found, reclaimPolicy }, signal)
  const emptied = await letGo(deps, { record, begun, key }, signal)
  // A reservation that names no cluster may be another cluster's: its marks stay as they are, and it is ours by id.
  if (namedCluster(deps.scheme, found.marks) === 'ours')
    await deps.cloud.mark({ id: found.id, marks: lastingMarks(found.marks) }, transferMarks(deps.scheme, key), signal)
  const message = `Service ${key}, from Service ${claimKey(record)}`
  const conditions = [assigned('True', { reason: 'OnService', message, now: deps.now() })]
  const known = defined({ reservationID: found.id, address })
  await deps.records.writeStatus(begun, { phase: 'Bound', ...known, conditions }, { signal })
  await deps.records.remove(emptied, { signal })
  deps.log.info({ record: begun.metadata.name, address, from: record.metadata.name }, 'address passed on')
}

/** Writes the heir's record, as at the start of an adoption; or reads the record of an earlier attempt. */
async function begin(
  { records, identity }: LedgerDeps,
  { record, heir, found, reclaimPolicy }: Passing,
  signal: AbortSignal,
): Promise<ElasticIP> {
  const { location } = record.spec
  const spec = {
    reclaimPolicy,
    reservationID: found.id,
    ...defined({ location }),
    ...(familyOf(record) === 'ipv6' && ({ ipFamily: 'IPv6' } as const)),
  }
  const begun = newRecord(keyOf(heir), spec, { identity })
  const { uid } = heir.metadata
  const claimRef = { namespace: '', name: '', ...begun.spec.claimRef, ...defined({ uid }) }
  try {
    return await records.create({ ...begun, spec: { ...begun.spec, claimRef } }, { signal })
  } catch (error) {
    const stored = isAlreadyExists(error) ? await records.get(keyOf(heir), { signal }) : undefined
    if (stored && isAdoptionBegun(stored) && reservationIdOf(stored) === found.id) return stored
    throw error
  }
}

/** Removes the address from the previous record, so that a new Service of its name cannot claim it. */
async function letGo(
  { records }: LedgerDeps,
  { record, begun, key }: { record: ElasticIP; begun: ElasticIP; key: Key },
  signal: AbortSignal,
): Promise<ElasticIP> {
  const change = { address: null, reservationID: null, message: `its address passes to Service ${key}` }
  try {
    return await records.writeStatus(record, change, { signal })
  } catch (error) {
    if (!isConflict(error)) throw error
    const current = await records.get(record.metadata.name, { signal })
    // Another process that passes the address on needs the heir's record.
    if (current && heldAddress(current) !== undefined) await records.remove(begun, { signal })
    throw error
  }
}
