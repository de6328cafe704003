import { createHash } from 'node:crypto'
import type { Marks } from '../clouds/cloud.ts'
import type { Key } from '../kube/objects.ts'

/** How a dialect marks its reservations; predecessors' words, so that theirs are found and ours by them. */
export type MarkScheme = {
  usage: string
  /** What of a Service is hashed: `namespace/name`, or `namespace.name` in the oldest dialect. */
  separator: '/' | '.'
  /** UID of the namespace kube-system: whose reservation it is where clusters share a project. */
  cluster: string
}

/** The marks of all reservations of this cluster. */
export function clusterMarks({ usage, cluster }: MarkScheme): Marks {
  return { usage, cluster }
}

/** The marks of one Service's reservation. Its name is hashed: people do not want their names in a cloud account. */
export function serviceMarks(scheme: MarkScheme, key: Key): Marks {
  const hash = createHash('sha256').update(key.replace('/', scheme.separator)).digest('base64')
  return { ...clusterMarks(scheme), service: hash }
}
