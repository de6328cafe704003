import { type Key, splitKey } from '../../kube/objects.ts'
import {
  type ClaimRef,
  type ElasticIP,
  addressKeyOf,
  claimKey,
  familyOf,
  isReleaseRecord,
  phaseOf,
} from './elastic-ip.ts'
import { type IpFamily, familyNames } from '../../lib/ip-address.ts'
import { warmLabel } from './names.ts'
import { defined } from '../../lib/json.ts'

/** Whether a record is not a Service's own, but an available address, or one that a Service's record has claimed. */
export function isSource(record: ElasticIP): boolean {
  return !isReleaseRecord(record) && addressKeyOf(record) === undefined
}

/** Whether an address is in the warm pool, for any Service. Without the label it is provisioned: requested by name. */
export function isWarm(record: ElasticIP): boolean {
  return isSource(record) && record.metadata.labels?.[warmLabel] !== undefined
}

/**
 * Whether an operator may have ordered the reservation of a record, and wrote nothing that deletes it. A provisioned
 * ElasticIP counts even if it no longer names a reservation, because that field can be removed.
 */
export function mayBeOperators(record: ElasticIP): boolean {
  const { reclaimPolicy, reservationID } = record.spec
  return reclaimPolicy !== 'Delete' && (isSource(record) || reservationID !== undefined)
}

/** Whether any Service may claim an address. */
export function isAvailable(source: ElasticIP): boolean {
  return claimKey(source) === undefined && phaseOf(source) === 'Available' && isUsable(source)
}

/**
 * Whether the Service of a key may claim an address: it is free, or an earlier record of the same Service claimed it.
 * That is safe because a Service's address never has two records at once, and its two addresses differ in family.
 */
export function isAvailableFor(key: Key | undefined, source: ElasticIP): boolean {
  const isItsOwn = key !== undefined && claimKey(source) === key
  return isAvailable(source) || (isItsOwn && ['Available', 'Bound'].includes(phaseOf(source)) && isUsable(source))
}

function isUsable(source: ElasticIP): boolean {
  return isSource(source) && source.metadata.deletionTimestamp === undefined && source.status?.address !== undefined
}

/**
 * Whether a record has claimed an address. An operator writes a claimRef without a record's uid, to reserve the address
 * for a Service.
 */
export function isClaimed({ spec }: ElasticIP): boolean {
  return spec.claimRef?.elasticIPUID !== undefined
}

/** Whether an operator named the Service that may claim an address. */
export function isKeptForService({ spec: { claimRef } }: ElasticIP): boolean {
  return claimRef !== undefined && (claimRef.elasticIPUID === undefined || claimRef.setByOperator === true)
}

/** The claimRef of an address that a record claims. */
export function claimRefOf(record: ElasticIP, isKept: boolean): ClaimRef {
  const { namespace = '', name = '' } = record.spec.claimRef ?? {}
  const { uid } = record.metadata
  return {
    namespace,
    name,
    ...defined({ elasticIPUID: uid }),
    ...(isKept ? { setByOperator: true } : {}),
  }
}

/** Whether this record, not only one of its name, has claimed an available address. */
export function isClaimedBy(source: ElasticIP, { metadata }: ElasticIP): boolean {
  return metadata.uid !== undefined && source.spec.claimRef?.elasticIPUID === metadata.uid
}

/** Whether a record names this one as its source. */
export function hasSource(record: ElasticIP, source: ElasticIP): boolean {
  return record.spec.source?.name === source.metadata.name
}

/** Whether a record names this source and holds the source's reservation. */
export function hasReservationOf(record: ElasticIP, source: ElasticIP): boolean {
  const id = source.status?.reservationID
  return id !== undefined && record.status?.reservationID === id && hasSource(record, source)
}

/** Why a Service cannot have an available address as its own: it is meant for other Services. */
export function reservedForOthers(source: ElasticIP, key: Key): string | undefined {
  if (!isSource(source)) return undefined
  const { name } = source.metadata
  const excluded = exclusionReason(source, key)
  if (excluded !== undefined) return `is the address of ElasticIP ${name}, which ${excluded}`
  if (isKeptForService(source) && claimKey(source) !== key) {
    return `is the address of ElasticIP ${name}, which ${keptText(source)}`
  }
  return isWarm(source) && !isClaimed(source)
    ? `is in the warm pool (ElasticIP ${name}), for Services that name no address`
    : undefined
}

/** Why no Service of a namespace can claim an available address; undefined if one can. */
export function exclusionReason({ spec: { allowedNamespaces } }: ElasticIP, key: Key): string | undefined {
  if (!allowedNamespaces || allowedNamespaces.includes(splitKey(key).namespace)) return undefined
  const allowed = allowedNamespaces.join(', ') || 'none'
  return `is for Services of other namespaces (spec.allowedNamespaces: ${allowed})`
}

function keptText(source: ElasticIP): string {
  return `is only for Service ${claimKey(source)} (spec.claimRef)`
}

/** Why a Service cannot have the address that it requests by name, and what its user can do. */
export function unavailableReason(
  source: ElasticIP | undefined,
  { name, key, family }: { name: string; key: Key; family?: IpFamily },
): string | undefined {
  // Records are named after Services, and a tenant must not learn which Services other namespaces have.
  if (!source || !isSource(source))
    return `ElasticIP ${name} is not a provisioned address; list them with \`kubectl get eip\``
  const excluded = exclusionReason(source, key)
  if (excluded !== undefined) return `ElasticIP ${name} ${excluded}; name another one`
  const { address } = source.status ?? {}
  if (address !== undefined && family !== undefined && familyOf(source) !== family)
    return `ElasticIP ${name} is ${address}, and the Service needs an ${familyNames[family]} address; name another one`
  if (isAvailableFor(key, source) && !isWarm(source)) return undefined
  return `ElasticIP ${name} ${problemOf(source, key)}`
}

function problemOf(source: ElasticIP, key: Key): string {
  const { name } = source.metadata
  const holder = claimKey(source)
  if (isWarm(source)) {
    const how = `kubectl label eip ${name} ${warmLabel}-`
    return `is in the warm pool, for Services that name no ElasticIP; to use it by name, remove it from the pool: \`${how}\``
  }
  if (holder !== undefined && holder !== key && !isClaimed(source)) {
    return `${keptText(source)}; name another one`
  }
  if (holder !== undefined && holder !== key) {
    return `is held by Service ${holder}; delete that Service first, or name another ElasticIP`
  }
  if (source.metadata.deletionTimestamp) return 'is being deleted; name another one'
  return `is not Available: ${source.status?.message ?? `it is ${phaseOf(source)}`}; for details: \`kubectl describe eip ${name}\``
}
