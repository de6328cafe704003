import { type ObjectMeta, keyOf } from '../kube/objects.ts'
import { type Container, type Pod, type Workload, containersIn, isRunning } from '../kube/workloads.ts'
import { programIn } from '../clouds/dialect/define-dialect.ts'
import { type Predecessor, predecessors } from './predecessors.ts'

/** A workload whose pods run a predecessor, and the container in it. */
export type FoundWorkload = { object: Workload; container: Container; predecessor: Predecessor; image: string }

export type FoundPredecessors = {
  /** Running ones first, then in the order of their names. */
  workloads: FoundWorkload[]
  /** Pods of a predecessor that no such workload made: static pods, and pods of other controllers. */
  pods: Pod[]
}

/** The predecessors among all workloads and pods. Pure. */
export function findPredecessors(workloads: readonly Workload[], pods: readonly Pod[]): FoundPredecessors {
  const found = workloads
    .flatMap((object) => {
      const inside = predecessorIn(containersIn(object), object.metadata)
      return inside ? [{ object, ...inside }] : []
    })
    .toSorted((one, other) => orderOf(one).localeCompare(orderOf(other)))
  const kinds = ['ReplicaSet', 'DaemonSet']
  const own = pods.filter((pod) => predecessorIn(pod.spec?.containers) !== undefined && !isOver(pod))
  return {
    workloads: found,
    pods: own.filter(({ metadata }) => !metadata.ownerReferences?.some(({ kind }) => kinds.includes(kind))),
  }
}

/** The container that runs a predecessor, by its image, its command line or the name of its workload. */
export function predecessorIn(
  containers: readonly Container[] = [],
  at?: ObjectMeta,
): Omit<FoundWorkload, 'object'> | undefined {
  const found = programIn(predecessors, containers, at)
  return found && { container: found.container, predecessor: found.program, image: found.container.image ?? '' }
}

function orderOf({ object }: FoundWorkload): string {
  return `${isRunning(object) ? 0 : 1} ${keyOf(object)}`
}

function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}
