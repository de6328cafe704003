import type { Announcer } from '../../announcers/announcer.ts'
import type { Service } from '../../kube/objects.ts'
import {
  type AddressKey,
  type ElasticIP,
  addressKeyOf,
  familyOf,
  heldAddress,
  isSecond,
  phaseOf,
  secondKey,
} from '../../ledger/record/elastic-ip.ts'
import { serviceFinalizer } from '../../ledger/record/names.ts'
import { mayFindShown } from '../../ledger/record/records.ts'
import { statusAddresses, statusTextsOf } from '../../ledger/record/address-use.ts'
import type { RequestAnnotations, ValuePolicy } from '../../settings/service-policy.ts'
import { isSecondWanted } from '../../ledger/want/wanted.ts'
import type { Want } from '../../ledger/want/want.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import type { Announcement } from '../announcing/announcing.ts'

/** Everything that the plan for an address of a Service depends on. */
export type ServiceSeen = {
  key: AddressKey
  service: Service | undefined
  wanted: Want | undefined
  record: ElasticIP | undefined
  /** The rightful record of the address that this one also has. */
  rival: ElasticIP | undefined
  /** The records of the Service's other addresses: the second for a first address, and vice versa. */
  others: readonly ElasticIP[]
  announcer: Pick<Announcer, 'request' | 'withdrawal' | 'withdrawsOnlyOnDeletion'>
  requestAnnotations: RequestAnnotations
  /** The Services in the cache that use an address. */
  users: (address: string) => readonly Service[]
  /** The values that annotations of Services may have. */
  policy: ValuePolicy
  /** How long we have seen the record unbound and unchanged. */
  unboundForMs: number
  /** How long a reserved address waits for its Service: the Service may be rejected after we admitted it, or arrive late. */
  graceMs: number
  /** How long we have seen the request to withdraw the address. */
  withdrawingForMs: number
  /**
   * Why the network may still learn the address that the next step frees; looked up only before such a step. `isTheirs`:
   * the records of the Services that show it hold the same reservation.
   */
  announcement: (Announcement & { isTheirs?: boolean }) | undefined
  /** The Service in the cache that gets the record when this one gives it up. */
  heir: Service | undefined
}

/** Whether the Service has our finalizer. */
export function hasFinalizer({ metadata }: Service): boolean {
  return metadata.finalizers?.includes(serviceFinalizer) ?? false
}

/** Whether the record is bound to this very Service. */
export function isBoundTo({ metadata: { uid = '' } }: Service, record: ElasticIP): boolean {
  return phaseOf(record) === 'Bound' && record.spec.claimRef?.uid === uid
}

/** Whether the Service has all these annotations. */
export function hasAnnotations({ metadata }: Service, annotations: Readonly<Record<string, string>>): boolean {
  return Object.entries(annotations).every(([name, value]) => metadata.annotations?.[name] === value)
}

/**
 * How long an unbound record still waits; undefined if it does not wait. Only admission may know the Service that the
 * record is for, or the change of the Service that needs it.
 */
export function graceLeftMs({ record, unboundForMs, graceMs }: ServiceSeen): number | undefined {
  return record && isInGrace(record) && unboundForMs < graceMs ? graceMs - unboundForMs : undefined
}

/** Whether a record waits for a Service that only admission may know. */
export function isInGrace(record: ElasticIP): boolean {
  return phaseOf(record) === 'Requested' || phaseOf(record) === 'Reserved'
}

/**
 * The second addresses that a Service shows besides its first. DNS may rely on a shown address, so it stays while the
 * ledger looks for its reservation.
 */
export function secondAddresses({ key, others, service, wanted, record: first }: ServiceSeen): string[] {
  if (!service || !wanted) return []
  const known = others
    .filter((record) => isSecond(record) && isSecondWanted(record, { service, wanted, first }))
    .flatMap((record) => secondAddressOf(record, service))
  const { family } = (wanted.kind === 'reserve' && wanted.second) || {}
  const isMissing = family && !others.some((record) => addressKeyOf(record) === secondKey(key, family))
  return isMissing ? [...known, ...statusTextsOf(service, family)] : known
}

function secondAddressOf(record: ElasticIP, service: Service): string[] {
  const held = heldAddress(record)
  if (held === undefined) return mayFindShown(record) ? statusTextsOf(service, familyOf(record)) : []
  return isBoundTo(service, record) || statusAddresses(service).includes(canonicalIpAddress(held) ?? held) ? [held] : []
}
