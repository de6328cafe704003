import { createHash } from 'node:crypto'
import type { Marks, MarkScheme } from '../../clouds/ports/cloud.ts'
import { type AddressKey, type ElasticIP, addressKeyOf } from './elastic-ip.ts'

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
export const sourceMark = 'elastic-ip'

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
