import { type KubeObject, splitKey } from '../../kube/objects.ts'
import type { LabelSelector } from '../../lib/label-selector.ts'
import { isWritten, ownLabels } from '../shared/own-objects.ts'
import { isAdvertisement, isPeer, isPool } from './resources.ts'

/** How we recognize MetalLB objects of ours or a predecessor's, and the names of ours. */
export type Marks = {
  namespace: string
  /** The label of predecessors' objects, and of a person's advertisement that replaces ours. */
  label: { name: string; value: string }
  /** The name of our advertisement; a predecessor's had the same. */
  advertisement: string
  passwordSecret: string
}

/** The objects in MetalLB's namespace: `ours` were written by us or a predecessor, `foreign` by others. */
export type ExistingObjects = { ours: KubeObject[]; foreign: KubeObject[] }

/**
 * The labels for a merge patch that removes ours from an object. Null removes a label, but the type of stored labels
 * has no null.
 */
export function withoutOwnLabel(labels: Record<string, string> = {}): Record<string, string> {
  const removed = Object.fromEntries(Object.keys(ownLabels).map((name) => [name, null]))
  return { ...labels, ...removed } as Record<string, string>
}

/** The labels of every object that we write. */
export function labelsOf({ label }: Marks): Record<string, string> {
  return { ...ownLabels, [label.name]: label.value }
}

/**
 * Whether we or a predecessor wrote an object. The predecessors' label does not prove it: a person may put it on a pool
 * or a peer too.
 */
export function isOurs(marks: Omit<Marks, 'passwordSecret'>, object: KubeObject): boolean {
  const { namespace, name, labels = {} } = object.metadata
  // For other announcing software in this namespace, we write the same Secret without that label.
  if (object.kind === 'Secret') return namespace === marks.namespace && isWritten(object)
  if (namespace !== marks.namespace || labels[marks.label.name] !== marks.label.value) return false
  if (isAdvertisement(object)) return name === marks.advertisement
  if (isWritten(object)) return true
  // A predecessor writes the Services of a pool into its labels, and a peer's Services into selectors that match no
  // node.
  if (isPool(object)) return Object.keys(labels).some((key) => key.startsWith('service-'))
  return isPeer(object) && (object.spec.nodeSelectors ?? []).some((selector) => isInherited(selector, name))
}

/** A label that no node has, with which predecessors count the Services of a peer. */
export const countingLabel = /^nomatch\.[^/]+\/service-name$/

/** The labels that count a Service; `counting` is the predecessor's domain of them. */
export function countingLabels(counting: string, service: string): Record<string, string> {
  const { namespace, name } = splitKey(service)
  return { [`${counting}/service-name`]: name, [`${counting}/service-namespace`]: namespace }
}

/** Whether a selector matches no node and only counts a predecessor's Service. */
export function isCounting({ matchLabels = {} }: LabelSelector): boolean {
  return Object.keys(matchLabels).some((key) => countingLabel.test(key))
}

function isInherited(selector: LabelSelector, name: string): boolean {
  if (isCounting(selector)) return true
  const { matchLabels = {} } = selector
  // A peer that counts no Service yet is named after its node or region, with a number.
  const of = name.replace(/-\d+$/, '')
  const { 'kubernetes.io/hostname': hostname, 'topology.kubernetes.io/region': region } = matchLabels
  return of !== name && (of === hostname || of === region?.toLowerCase())
}
