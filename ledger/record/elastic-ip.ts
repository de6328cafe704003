import { type IpFamily, parseIpAddress } from '../../lib/ip-address.ts'
import { hashForName } from '../../lib/names.ts'
import type { Condition, Key, KubeObject } from '../../kube/objects.ts'
import { defineResource } from '../../kube/resource.ts'

/**
 * The life of an address. Requested: the record exists, but the provider has not granted an address yet. Reserved: the
 * address is known, but no stored Service holds it. Bound: a stored Service holds it. Releasing: its reservation is
 * being deleted. Released: retained after its Service was deleted. Available: provisioned or warm, and not in use.
 */
export type Phase = 'Requested' | 'Reserved' | 'Bound' | 'Releasing' | 'Released' | 'Available'

export type ReclaimPolicy = 'Delete' | 'Retain'

export type ClaimRef = {
  namespace: string
  name: string
  uid?: string
  /** On an available address: uid of the Service's record that claimed it. */
  elasticIPUID?: string
  /** Whether an operator named the Service: its name stays when the claim ends. */
  setByOperator?: boolean
}

/** The source of a record's address: it borrows a provisioned one, or takes a warm one for good. */
export type AddressSource = { name: string; type: 'Provisioned' | 'WarmPool' }

/** Which Service holds which address: an ElasticIP is to an address what a PersistentVolume is to a disk. */
export type ElasticIP = KubeObject & {
  apiVersion: 'eip-admission.dev/v1alpha1'
  kind: 'ElasticIP'
  spec: {
    claimRef?: ClaimRef
    location?: string
    /** The family of the address to reserve; IPv4 if absent. */
    ipFamily?: 'IPv4' | 'IPv6'
    reclaimPolicy: ReclaimPolicy
    /** A reservation that is older than the record: adopted, or provisioned. */
    reservationID?: string
    /** On a provisioned address: the namespaces whose Services may claim it. */
    allowedNamespaces?: string[]
    source?: AddressSource
  }
  status?: ElasticIPStatus
}

/** A change of a record: its result, its writer, and the request that caused it. */
export type HistoryStep = { time: string; phase: string; message?: string; writer: string; request?: string }

export type ElasticIPStatus = {
  /** The generation of the record that this status reflects. */
  observedGeneration?: number
  phase?: Phase
  address?: string
  reservationID?: string
  /** The sender of a request in flight. A record without a status was written by a process that is about to send one. */
  requestInFlight?: { sender: string; sentAt: string }
  /** When we first asked the provider to delete the reservation. From then on no Service may show the address. */
  deletionRequestedAt?: string
  conditions?: Condition[]
  message?: string
  /** The last changes, the newest one last. */
  history?: HistoryStep[]
}

export const elasticIPs = defineResource<ElasticIP>({
  apiVersion: 'eip-admission.dev/v1alpha1',
  kind: 'ElasticIP',
  plural: 'elasticips',
  namespaced: false,
})

/** An ElasticIP that is not stored yet. */
export function newElasticIP(metadata: ElasticIP['metadata'], spec: ElasticIP['spec']): ElasticIP {
  return { apiVersion: 'eip-admission.dev/v1alpha1', kind: 'ElasticIP', metadata, spec }
}

/**
 * Identifies an address of a Service: `<namespace>/<service>`, and for the second one `<namespace>/<service>.<family>`.
 * It is unique because names of namespaces and Services contain no dot.
 */
export type AddressKey = string

const families = ['ipv4', 'ipv6'] as const satisfies readonly IpFamily[]

/** The key of a Service's second address, if that is of this family. */
export function secondKey(service: Key, family: IpFamily): AddressKey {
  return `${service}.${family}`
}

/** The keys that a second address of a Service can have. */
export function secondKeys(service: Key): AddressKey[] {
  return families.map((family) => secondKey(service, family))
}

/** The Service of an address. */
export function serviceOfAddress(key: AddressKey): Key {
  return key.split('.', 1)[0] ?? key
}

/** Whether a key names a second address. */
export function isSecondKey(key: AddressKey): boolean {
  return key.includes('.')
}

/** The name of the record of a Service's address: as unique as the key, and readable. */
export function recordName(key: AddressKey): string {
  return key.replace('/', '.')
}

/** The key of the Service's address that a record holds; undefined for an available address or a release record. */
export function addressKeyOf(record: ElasticIP): AddressKey | undefined {
  const service = claimKey(record)
  if (service === undefined) return undefined
  const { name } = record.metadata
  // Most records hold first addresses, and a create checks all of them.
  if (recordName(service) === name) return service
  return secondKeys(service).find((key) => recordName(key) === name)
}

/** Whether a record holds a Service's second address. */
export function isSecond(record: ElasticIP): boolean {
  const key = addressKeyOf(record)
  return key !== undefined && isSecondKey(key)
}

/** The Service that a record is for. */
export function claimKey(record: ElasticIP): Key | undefined {
  const { claimRef } = record.spec
  return claimRef && `${claimRef.namespace}/${claimRef.name}`
}

/** The phase of a record. A record without a status is new. */
export function phaseOf(record: ElasticIP): Phase {
  return record.status?.phase ?? 'Requested'
}

/** Whether no process has written the status of a record yet: the API server defaults one condition. */
export function isUnwritten({ status }: ElasticIP): boolean {
  return status === undefined || Object.keys(status).join() === 'conditions'
}

/** The reservation of a record, if it is known. */
export function reservationIdOf(record: ElasticIP): string | undefined {
  return record.status?.reservationID ?? record.spec.reservationID
}

/**
 * The deciding records of one address. A live record hides the others: the provider may grant an address again while
 * its previous reservation is being deleted.
 */
export function decidingRecords(records: readonly ElasticIP[]): readonly ElasticIP[] {
  const live = records.filter(({ status }) => status?.deletionRequestedAt === undefined)
  return live.length > 0 ? live : records
}

/** The address that a record holds for its Service; undefined before it is reserved and while it is being released. */
export function heldAddress(record: ElasticIP): string | undefined {
  const phase = phaseOf(record)
  return phase === 'Reserved' || phase === 'Bound' ? record.status?.address : undefined
}

/** Whether a record was claimed for a Service that no controller has seen stored yet. */
export function isUnbound(record: ElasticIP): boolean {
  const phase = phaseOf(record)
  const { claimRef } = record.spec
  return (phase === 'Requested' || phase === 'Reserved') && claimRef !== undefined && claimRef.uid === undefined
}

/** The family of a record's address, or of the address that it requests. */
export function familyOf({ spec, status }: ElasticIP): IpFamily {
  const known = parseIpAddress(status?.address ?? '')?.family
  return known ?? (spec.ipFamily === 'IPv6' ? 'ipv6' : 'ipv4')
}

/** The provisioned ElasticIP whose address a Service's record uses. */
export function provisionedSourceOf({ spec: { source } }: ElasticIP): string | undefined {
  return source?.type === 'Provisioned' ? source.name : undefined
}

const releasePrefix = 'releasing-'

/** The name of a release record. Without a dot it is no Service's; a hash, because an id may be no valid name. */
export function releaseRecordName(reservationID: string): string {
  return `${releasePrefix}${hashForName(reservationID, 16)}`
}

/** Whether a record exists only until the provider has deleted its reservation. */
export function isReleaseRecord(record: ElasticIP): boolean {
  const { name } = record.metadata
  // This runs often for every record, so it computes a hash only if the prefix matches.
  return name.startsWith(releasePrefix) && name === releaseRecordName(reservationIdOf(record) ?? '')
}
