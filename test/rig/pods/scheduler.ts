// Chooses nodes as kube-scheduler does, by its rules for taints, labels, cordons and host ports.
import type { Node, Taint } from '../../../kube/objects.ts'
import type { Pod, Toleration } from './pod.ts'

export type PodSpec = Pick<Pod['spec'], 'hostNetwork' | 'nodeSelector' | 'tolerations' | 'containers'>

/** Why a node cannot run a pod beside its other pods; undefined if it can. */
export function obstacle(spec: PodSpec, { metadata, spec: node }: Node, there: PodSpec[] = []): string | undefined {
  if (node.unschedulable === true) return 'the node is cordoned'
  const taint = node.taints?.find((one) => isObstacle(one) && toleration(spec, one) === undefined)
  if (taint) return `the pod does not tolerate ${taint.key}:${taint.effect}`
  const label = Object.entries(spec.nodeSelector ?? {}).find(([name, value]) => metadata.labels?.[name] !== value)
  if (label) return `the node has no label ${label.join('=')}`
  const port = hostPorts(spec).find((one) => there.flatMap(hostPorts).includes(one))
  return port === undefined ? undefined : `another pod has port ${port}`
}

/** The toleration by which a pod may be on a node with this taint. */
export function toleration({ tolerations = [] }: PodSpec, taint: Taint): Toleration | undefined {
  return tolerations.find(
    ({ key, operator = 'Equal', value = '', effect }) =>
      (effect === undefined || effect === taint.effect) &&
      (key === undefined || key === taint.key) &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  )
}

/** The node for a pod that has none yet: the one with the fewest pods among those that can run it. */
export function chooseNode(pod: Pod, nodes: Node[], pods: Pod[]): Node | undefined {
  const on = ({ metadata }: Node) =>
    pods.filter(({ spec, status }) => spec.nodeName === metadata.name && !isOver(status))
  const specs = (node: Node) => on(node).map(({ spec }) => spec)
  return nodes
    .filter((node) => obstacle(pod.spec, node, specs(node)) === undefined)
    .toSorted((a, b) => on(a).length - on(b).length)[0]
}

function isOver(status: Pod['status']): boolean {
  return ['Succeeded', 'Failed'].includes(status?.phase ?? '')
}

function isObstacle({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute'
}

/** The ports of the node that a pod needs for itself. */
function hostPorts({ containers, hostNetwork = false }: PodSpec): number[] {
  const ports = containers.flatMap(({ ports: all = [] }) => all)
  return ports.flatMap(({ containerPort, hostPort }) => hostPort ?? (hostNetwork ? containerPort : []))
}
