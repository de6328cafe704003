import { createHash } from 'node:crypto'
import type { Marks } from '../../clouds/cloud.ts'
import type { Key } from '../../kube/objects.ts'

/** How a dialect marks its reservations; predecessors' words, so that theirs are found and ours by them. */
export type MarkScheme = {
  usage: string
  /** What of a Service is hashed: `namespace/name`, or `namespace.name` in the oldest dialect. */
  separator: '/' | '.'
  /** UID of the namespace kube-system: whose reservation it is where clusters share a project. */
  cluster: string
  /** The predecessor wrote no cluster: a reservation that names none is ours, too, if its Service is. */
  adoptsUnmarked?: true
}

/** The marks of all reservations of this cluster. */
export function clusterMarks({ usage, cluster }: MarkScheme): Marks {
  return { usage, cluster }
}

/** The marks of everything that may be this cluster's: fewer where a predecessor wrote fewer. */
export function commonMarks(scheme: MarkScheme): Marks {
  return scheme.adoptsUnmarked ? { usage: scheme.usage } : clusterMarks(scheme)
}

/** Whether a reservation does not say which cluster's it is, as a predecessor left it. */
export function isUnmarked({ adoptsUnmarked }: MarkScheme, marks: Marks): boolean {
  return adoptsUnmarked === true && marks['cluster'] === undefined
}

/** Whether a reservation is this cluster's, or does not say that it is another's. */
export function mayBeOurs(scheme: MarkScheme, marks: Marks): boolean {
  return marks['cluster'] === scheme.cluster || isUnmarked(scheme, marks)
}

/** The marks of one Service's reservation. Its name is hashed: people do not want their names in a cloud account. */
export function serviceMarks(scheme: MarkScheme, key: Key): Marks {
  const hash = createHash('sha256').update(key.replace('/', scheme.separator)).digest('base64')
  return { ...clusterMarks(scheme), service: hash }
}

/** The mark of a reservation that is no Service's yet: uid of the record that it was made for, which comes once only. */
const sourceMark = 'elastic-ip'

/** The marks of an address that waits for a Service. */
export function sourceMarks(scheme: MarkScheme, uid: string): Marks {
  return { ...clusterMarks(scheme), [sourceMark]: uid }
}

/** The mark that says whose a reservation is: a Service's, or a record's of the stock. */
export function ownerMark(marks: Marks): string | undefined {
  return marks['service'] ?? marks[sourceMark]
}

/** How the marks of such an address change when a Service gets it for good. */
export function transferMarks(scheme: MarkScheme, key: Key): Record<string, string | undefined> {
  return { ...serviceMarks(scheme, key), [sourceMark]: undefined }
}
