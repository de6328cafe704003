import { keyOf } from '../../../kube/objects.ts'
import type { PredecessorWorkload } from '../plan/plan.ts'
import type { Container, Pod, Workload } from '../../../inspect/facts.ts'
import { type Predecessor, predecessorOf, versionOf } from '../../../inspect/predecessors.ts'

/** A workload whose pods run a predecessor, and the container in it. */
export type FoundWorkload = { object: Workload; container: Container; predecessor: Predecessor; image: string }

/** What of predecessors is in the cluster. */
export type FoundPredecessors = {
  /** Running ones first, then in the order of their names. */
  workloads: FoundWorkload[]
  /** Pods of a predecessor that no such workload made: static pods, and those of other controllers. */
  pods: Pod[]
}

/** The predecessors among all workloads and pods. Pure. */
export function findPredecessors(workloads: readonly Workload[], pods: readonly Pod[]): FoundPredecessors {
  const found = workloads
    .flatMap((object) => {
      const inside = foundIn(object.spec?.template?.spec?.containers)
      return inside ? [{ object, ...inside }] : []
    })
    .toSorted((one, other) => orderOf(one).localeCompare(orderOf(other)))
  const kinds = ['ReplicaSet', 'DaemonSet']
  const own = pods.filter((pod) => foundIn(pod.spec?.containers) !== undefined && !isOver(pod))
  return {
    workloads: found,
    pods: own.filter(({ metadata }) => !metadata.ownerReferences?.some(({ kind }) => kinds.includes(kind))),
  }
}

/** Whether a workload has a pod, or should have one. */
export function isRunning({ kind, spec, status }: Workload): boolean {
  if (kind === 'DaemonSet') return (status?.desiredNumberScheduled ?? 0) + (status?.currentNumberScheduled ?? 0) > 0
  return (spec?.replicas ?? 1) > 0 || (status?.replicas ?? 0) > 0
}

/** The release of Helm that an object belongs to. */
export function helmReleaseOf({ metadata: { annotations = {} } }: Workload): string | undefined {
  return annotations['meta.helm.sh/release-name']
}

/** What the plan says of a workload: enough to bring it back. */
export function describeWorkload({ object, image }: FoundWorkload): PredecessorWorkload {
  const { kind, metadata, spec } = object
  const selector = spec?.template?.spec?.nodeSelector
  const isDaemonSet = kind === 'DaemonSet'
  const release = helmReleaseOf(object)
  return {
    kind: isDaemonSet ? 'DaemonSet' : 'Deployment',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    image,
    version: versionOf(image),
    ...(isDaemonSet ? { nodeSelector: selector ?? {} } : { replicas: spec?.replicas ?? 1 }),
    isRunning: isRunning(object),
    ...(release !== undefined && { helmRelease: release }),
    podSelector: spec?.selector?.matchLabels ?? {},
  }
}

type InContainer = Omit<FoundWorkload, 'object'>

/** The first container that runs a predecessor. */
function foundIn(containers: readonly Container[] = []): InContainer | undefined {
  const found = containers.map((container) => {
    const { image = '' } = container
    return { container, image, predecessor: predecessorOf(image) }
  })
  return found.find((one): one is InContainer => one.predecessor !== undefined)
}

function orderOf({ object }: FoundWorkload): string {
  return `${isRunning(object) ? 0 : 1} ${keyOf(object)}`
}

function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}
