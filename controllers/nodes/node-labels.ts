import type { Machine } from '../../clouds/ports/machines.ts'
import type { Node } from '../../kube/objects.ts'
import { isUninitialized } from './taints.ts'

/** The old and the new name of a label, and the field of a machine that has its value. */
const pairs = [
  { keys: ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'], field: 'type' },
  { keys: ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'], field: 'region' },
  { keys: ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'], field: 'zone' },
] as const

/**
 * The labels that a node lacks. A new node gets the values of its machine. On an initialized node an existing label
 * stays, because a person may have changed it. A missing one gets the value of its other name.
 */
export function missingLabels(node: Node, machine: Machine): Record<string, string> {
  const now = node.metadata.labels ?? {}
  const isNew = isUninitialized(node)
  const wanted = pairs.flatMap(({ keys, field }) => {
    const twin = isNew ? undefined : (now[keys[0]] ?? now[keys[1]])
    const value = twin ?? machine[field]
    if (value === undefined || !isLabelValue(value)) return []
    return keys.filter((key) => (isNew ? now[key] !== value : now[key] === undefined)).map((key) => [key, value])
  })
  return Object.fromEntries(wanted) as Record<string, string>
}

/** The API server refuses the whole write if one value is invalid. */
function isLabelValue(text: string): boolean {
  return /^[a-z0-9]([-._a-z0-9]{0,61}[a-z0-9])?$/i.test(text)
}
