import type { ListOptions } from '../../kube/client.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { matchesRequirements } from '../../lib/label-selector.ts'
import { parseLabelSelector } from '../../settings/label-selector.ts'

type Selection = Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>

/** Whether an API server has the object in a list with these options. */
export function isSelected(object: KubeObject, { namespace, labelSelector, fieldSelector }: Selection): boolean {
  const { metadata } = object
  return (
    (namespace === undefined || metadata.namespace === namespace) &&
    // An empty selector selects everything.
    (!labelSelector || matchesRequirements(metadata.labels, requirementsOf(labelSelector))) &&
    (!fieldSelector || fieldSelector.split(',').every((text) => hasField(object, text)))
  )
}

function requirementsOf(text: string) {
  const requirements = parseLabelSelector(text)
  if (requirements === undefined) throw new Error(`no label selector: ${text}`)
  return requirements
}

/** Whether an object meets a term of a field selector, such as `metadata.name=web`. */
function hasField(object: KubeObject, text: string): boolean {
  const [, path = '', not, wanted] = /^([\w.]+)(!?)=(.*)$/.exec(text) ?? []
  const value = path.split('.').reduce<unknown>((of, name) => (of as Record<string, unknown>)?.[name], object)
  return ((value ?? '') === wanted) === (not === '')
}
