import { createHash } from 'node:crypto'
import type { Marks, MarkScheme, Reservation } from '../../clouds/ports/cloud.ts'
import { type AddressKey, type ElasticIP, addressKeyOf, provisionedSourceOf, reservationIdOf } from './elastic-ip.ts'
import { canonicalIpAddress, parseIpAddress, isInRanges } from '../../lib/ip-address.ts'
import { isWarm } from './source.ts'

/** The marks of all reservations of this cluster. */
export function clusterMarks({ usage, cluster }: MarkScheme): Marks {
  return { usage, cluster }
}

/** The marks of everything that may be this cluster's: fewer if a predecessor wrote fewer. */
export function commonMarks(scheme: MarkScheme): Marks {
  return scheme.adoptsUnmarked ? { usage: scheme.usage } : clusterMarks(scheme)
}

/** Which cluster the marks of a reservation name. Marks of another kind name none. */
export function namedCluster({ usage, cluster }: MarkScheme, marks: Marks): 'ours' | 'other' | 'none' {
  const named = marks['usage'] === usage ? marks['cluster'] : undefined
  if (named === undefined) return 'none'
  return named === cluster ? 'ours' : 'other'
}

/** The mark of a reservation that named no cluster before we adopted it: it may be another cluster's after all. */
const adoptedMark = 'adopted'

/** The mark of a reservation that outlives its Service. If its record is lost, nothing else shows that. */
const retainedMark = 'retained'

/** The change of marks that adopts a reservation that names no cluster. Our other clusters then ignore it. */
export function adoptionMarks(scheme: MarkScheme): Marks {
  return { ...clusterMarks(scheme), [adoptedMark]: 'untagged' }
}

/** The change of marks after which an adopted reservation names no cluster again. */
export const adoptionEndMarks = { cluster: undefined, [adoptedMark]: undefined, [retainedMark]: undefined }

/** Whether a reservation names no cluster, or named none when we adopted it. */
export function wasUnmarked(scheme: MarkScheme, marks: Marks): boolean {
  const isNamed = marks['cluster'] !== undefined && marks[adoptedMark] === undefined
  return scheme.adoptsUnmarked === true && !isNamed
}

/** The marks of a reservation, for a message. */
export function marksText(marks: Marks): string {
  return Object.entries(marks)
    .map(([mark, value]) => `${mark}=${value}`)
    .join(', ')
}

/** The change of marks that moves a reservation to this cluster. The other cluster then ignores it. */
export function clusterTransferMarks(scheme: MarkScheme): Record<string, string | undefined> {
  return { ...clusterMarks(scheme), service: undefined, [sourceMark]: undefined, [retainedMark]: undefined }
}

/** The marks of a Service's address. Names are hashed, because people do not want them in a provider's account. */
export function serviceMarks(scheme: MarkScheme, key: AddressKey): Marks {
  return { ...clusterMarks(scheme), service: hashOf(key, scheme.separator) }
}

/** Every mark that names a Service's address; the first is the one that we write. */
export function ownerMarks({ separator, otherSeparator }: MarkScheme, key: AddressKey): string[] {
  const separators = otherSeparator === undefined ? [separator] : [separator, otherSeparator]
  return separators.map((one) => hashOf(key, one))
}

/** Whether a reservation names this address of a Service, in any form. */
export function isOfService(scheme: MarkScheme, key: AddressKey, marks: Marks): boolean {
  const { service } = marks
  return service !== undefined && ownerMarks(scheme, key).includes(service)
}

/**
 * The mark that holds the heartbeat: `<nonce>.<seconds between two sweeps>[.<witness>]`. Its name is older than the
 * term: under another one, a running cluster would not find its own heartbeat.
 */
export const heartbeatMark = 'sign'

/** The marks that identify a reservation. They exclude the heartbeat, which a sweep may change at any time. */
export function lastingMarks(marks: Marks): Marks {
  return Object.fromEntries(Object.entries(marks).filter(([name]) => name !== heartbeatMark))
}

/** Whether the marks of a reservation say that it outlives its Service. */
export function isRetained(marks: Marks): boolean {
  return marks[retainedMark] !== undefined
}

/** The change of marks that makes a reservation outlive its Service, or no longer. */
export function retentionMarks(retained: boolean): Record<string, string | undefined> {
  return { [retainedMark]: retained ? 'true' : undefined }
}

function hashOf(key: AddressKey, separator: string): string {
  return createHash('sha256').update(key.replace('/', separator)).digest('base64')
}

/** The mark of a reservation that no Service holds yet: the uid of its record, which is never reused. */
const sourceMark = 'elastic-ip'

/** The marks of a warm address. */
export function sourceMarks(scheme: MarkScheme, uid: string): Marks {
  return { ...clusterMarks(scheme), [sourceMark]: uid }
}

/** The marks of a record's reservation: its Service's, or the record's own while no Service holds it. */
export function marksOf(scheme: MarkScheme, record: ElasticIP): Marks {
  const key = addressKeyOf(record)
  return key === undefined ? sourceMarks(scheme, record.metadata.uid ?? '') : serviceMarks(scheme, key)
}

/** The mark that names the owner of a reservation: a Service, or the record of a warm address. */
export function ownerMark(marks: Marks): string | undefined {
  return marks['service'] ?? marks[sourceMark]
}

/** The change of marks that gives a warm address to a Service for good. */
export function transferMarks(scheme: MarkScheme, key: AddressKey): Record<string, string | undefined> {
  return { ...serviceMarks(scheme, key), [sourceMark]: undefined }
}

/**
 * The owner of a reservation. `ours`: the record. `service`: another address of this cluster. `cluster`: another
 * cluster. `nobody`: nothing says that it is ours. `changed`: the record by its marks, but not by its address.
 */
export type Whose = 'ours' | 'service' | 'cluster' | 'nobody' | 'changed'

/** `isLost`: the provider gave the id to another reservation, so the record's own is deleted. */
export type Verdict = { whose: Whose; isLost: boolean }

/** The facts that decide who owns a reservation. */
export type Judged = Pick<Reservation, 'id' | 'marks' | 'prefixLength'> & { address: string | undefined }

export type WhoseRules = {
  scheme: MarkScheme
  /** The operator says that no other cluster uses the project. */
  sweepsUntagged: boolean
}

/**
 * Decides who owns the reservation that a record names. Pure. A provider may reuse the id and the address of a deleted
 * reservation for the next order, by any customer. So neither an id nor an address alone proves anything.
 *
 * | its marks name           | and                                          | its address | whose     | lost |
 * | ------------------------ | -------------------------------------------- | ----------- | --------- | ---- |
 * | another cluster          | another Service or warm address              | any         | `cluster` | yes  |
 * | another cluster          | the cluster of the record has a new id       | any         | `cluster` | no   |
 * | our cluster              | another Service or warm address              | any         | `service` | yes  |
 * | our cluster              |                                              | the same    | `ours`    | no   |
 * | our cluster              |                                              | another one | `changed` | no   |
 * | no cluster               | the record says that it was adopted so, and  | the same    | `ours`    | no   |
 * |                          | has not asked the cloud to delete it         |             |           |      |
 * | no cluster               |                                              | the same    | `nobody`  | no   |
 * | no cluster               |                                              | another one | `nobody`  | yes  |
 */
export function whoseIs(rules: WhoseRules, record: ElasticIP, found: Judged): Verdict {
  const { scheme } = rules
  const isSame = hasAddressOf(record, found)
  const isOfAnother = namesAnother(scheme, record, found)
  switch (namedCluster(scheme, found.marks)) {
    case 'other':
      return { whose: 'cluster', isLost: isOfAnother }
    case 'ours':
      if (isOfAnother) return { whose: 'service', isLost: true }
      return { whose: isSame ? 'ours' : 'changed', isLost: false }
    case 'none': {
      const isOurs = isSame && (isAdoptedUnmarked(record, found) || isUntaggedOurs(rules, record, found))
      return { whose: isOurs ? 'ours' : 'nobody', isLost: !isSame }
    }
  }
}

/** The same for a Service's address without a record of the reservation. Pure: only the marks decide. */
export function whoseByMarks(scheme: MarkScheme, key: AddressKey, { marks }: Pick<Judged, 'marks'>): Whose {
  const named = namedCluster(scheme, marks)
  if (named !== 'ours') return named === 'other' ? 'cluster' : 'nobody'
  return ownerMark(marks) === undefined || isOfService(scheme, key, marks) ? 'ours' : 'service'
}

/**
 * Explains in a sentence why a reservation is not a record's; undefined if it is. Without a record, no Service here
 * owns it.
 */
export function foreignReasonOf(rules: WhoseRules, record: ElasticIP | undefined, found: Judged): string | undefined {
  if (!record) return 'no ElasticIP has it'
  const { address: held = 'none' } = record.status ?? {}
  const isOther = hasAddressOf(record, found) ? '' : `; its address is ${found.address}, and the record has ${held}`
  switch (whoseIs(rules, record, found).whose) {
    case 'ours':
      return undefined
    case 'service':
      return `the provider has given it to another Service, as its marks say${isOther}`
    case 'cluster':
      return `its marks name another cluster, ${found.marks['cluster']}${isOther}`
    case 'nobody':
      return `it has no marks of this cluster${isOther}`
    case 'changed':
      return `the provider shows another address, ${found.address}, and the record has ${held}`
  }
}

/** Whether a reservation has a record's address, as far as both are known. A network may have any address in its range. */
export function hasAddressOf({ status }: ElasticIP, { address, prefixLength }: Judged): boolean {
  if (address === undefined || status?.address === undefined) return true
  const held = parseIpAddress(status.address)
  if (held && prefixLength !== undefined) return isInRanges(held, [`${address}/${prefixLength}`])
  return canonicalIpAddress(status.address) === canonicalIpAddress(address)
}

/** Whether the marks of a reservation name an owner other than the record. A provisioned reservation may name any. */
function namesAnother(scheme: MarkScheme, record: ElasticIP, { marks }: Judged): boolean {
  const { service } = marks
  if (isWarm(record)) return service !== undefined || ![undefined, record.metadata.uid].includes(marks[sourceMark])
  const key = addressKeyOf(record)
  const isLent = provisionedSourceOf(record) !== undefined
  return key !== undefined && !isLent && service !== undefined && !isOfService(scheme, key, marks)
}

/**
 * Whether a record names a reservation that a person ordered, and that may have no marks. It gets our marks before it
 * is deleted, so an unmarked one found later is another.
 */
function isAdoptedUnmarked(record: ElasticIP, { id }: Judged): boolean {
  if (record.status?.deletionRequestedAt !== undefined) return false
  if (provisionedSourceOf(record) !== undefined) return reservationIdOf(record) === id
  return record.spec.reservationID === id
}

/** Whether a predecessor's reservation that names no cluster is ours by the operator's statement. */
function isUntaggedOurs({ scheme, sweepsUntagged }: WhoseRules, record: ElasticIP, { marks }: Judged): boolean {
  const key = addressKeyOf(record)
  const isPredecessors = scheme.adoptsUnmarked === true && marks['usage'] === scheme.usage
  return sweepsUntagged && isPredecessors && (key === undefined || isOfService(scheme, key, marks))
}
