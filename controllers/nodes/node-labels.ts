import type { Machine } from '../../clouds/machines.ts'
import type { Node } from '../../kube/objects.ts'
import { isUninitialized } from './taints.ts'

/** The old and the new name of a label, and what a machine says to it. */
const pairs = [
  { keys: ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'], said: 'type' },
  { keys: ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'], said: 'region' },
  { keys: ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'], said: 'zone' },
] as const

/**
 * The labels that a node lacks. A new node gets what its machine says; on another one a label that is there stays, since
 * a person may have changed it, and one that is not takes after its twin.
 */
export function missingLabels(node: Node, machine: Machine): Record<string, string> {
  const now = node.metadata.labels ?? {}
  const isNew = isUninitialized(node)
  const wanted = pairs.flatMap(({ keys, said }) => {
    const twin = isNew ? undefined : (now[keys[0]] ?? now[keys[1]])
    const value = twin ?? machine[said]
    if (value === undefined || !isLabelValue(value)) return []
    return keys.filter((key) => (isNew ? now[key] !== value : now[key] === undefined)).map((key) => [key, value])
  })
  return Object.fromEntries(wanted) as Record<string, string>
}

/** The API server would refuse the whole write over a value that is none. */
function isLabelValue(text: string): boolean {
  return /^[a-z0-9]([-._a-z0-9]{0,61}[a-z0-9])?$/i.test(text)
}
