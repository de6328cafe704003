import type { KubeObject } from '../../kube/objects.ts'
import type { LabelSelector } from '../../lib/label-selector.ts'
import { isAdvertisement, isPeer, isPool } from './resources.ts'

/** How MetalLB's objects are known as a predecessor's or ours, and how ours are called. */
export type Marks = {
  namespace: string
  /** The label that predecessors put on their objects, and a person on an advertisement that replaces ours. */
  label: { name: string; value: string }
  /** The name of our advertisement, which was theirs. */
  advertisement: string
  passwordSecret: string
}

/** What is in MetalLB's namespace: what we or a predecessor wrote, and what other people did. */
export type There = { ours: KubeObject[]; theirs: KubeObject[] }

const ownLabels = { 'app.kubernetes.io/managed-by': 'eip-admission' }

/** The labels of everything that we write. */
export function labelsOf({ label }: Marks): Record<string, string> {
  return { ...ownLabels, [label.name]: label.value }
}

/**
 * Whether an object is ours, or one that a predecessor left us. Their label alone does not say so: a person may put it
 * on a pool or a peer too.
 */
export function isOurs(marks: Marks, object: KubeObject): boolean {
  const { namespace, name, labels = {} } = object.metadata
  if (namespace !== marks.namespace || labels[marks.label.name] !== marks.label.value) return false
  if (isAdvertisement(object)) return name === marks.advertisement
  if (Object.entries(ownLabels).every(([key, value]) => labels[key] === value)) return true
  // A predecessor notes the Services of a pool in its labels, and those of a peer in selectors that match no node.
  if (isPool(object)) return Object.keys(labels).some((key) => key.startsWith('service-'))
  return isPeer(object) && (object.spec.nodeSelectors ?? []).some((selector) => isInherited(selector, name))
}

/** The label of a node that no node has: a predecessor counts the Services of a peer with it. */
export const countingLabel = /^nomatch\.[^/]+\/service-name$/

function isInherited({ matchLabels = {} }: LabelSelector, name: string): boolean {
  if (Object.keys(matchLabels).some((key) => countingLabel.test(key))) return true
  // One that counts no Service yet is called after its node, or its region, and numbered.
  const of = name.replace(/-\d+$/, '')
  const { 'kubernetes.io/hostname': hostname, 'topology.kubernetes.io/region': region } = matchLabels
  return of !== name && (of === hostname || of === region?.toLowerCase())
}
