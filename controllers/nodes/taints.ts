import type { Node, Taint } from '../../kube/objects.ts'

/** Set by a kubelet with `--cloud-provider=external`: no pod runs on the node until we know its machine. */
export const uninitialized = 'node.cloudprovider.kubernetes.io/uninitialized'

const shutdownTaint: Taint = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' }

/** Whether a kubelet waits for us to initialize its node. */
export function isUninitialized(node: Node): boolean {
  return taintsOf(node).some(({ key }) => key === uninitialized)
}

/** Whether the node has the taint of a machine that is off. */
export function isShutDown(node: Node): boolean {
  return taintsOf(node).some(isShutdownTaint)
}

/** Whether the cluster autoscaler is about to delete the node. */
export function isScaledDown(node: Node): boolean {
  return taintsOf(node).some(({ key }) => key === 'ToBeDeletedByClusterAutoscaler')
}

/** Whether the node is ready. */
export function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
}

/** The taints of a node once it is initialized. */
export function initializedTaints(node: Node): Taint[] {
  return taintsOf(node).filter(({ key }) => key !== uninitialized)
}

/** The taints of a node whose machine is off, or on again. */
export function shutdownTaints(node: Node, isOff: boolean): Taint[] {
  const others = taintsOf(node).filter((taint) => !isShutdownTaint(taint))
  return isOff ? [...others, shutdownTaint] : others
}

function taintsOf({ spec }: Node): Taint[] {
  return spec.taints ?? []
}

function isShutdownTaint({ key, effect }: Taint): boolean {
  return key === shutdownTaint.key && effect === shutdownTaint.effect
}
