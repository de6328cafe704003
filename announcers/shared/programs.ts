import { type KubeObject, keyOf } from '../../kube/objects.ts'
import { type Container, type Workload, containersIn } from '../../kube/workloads.ts'
import type { SoftwareFindings } from '../check.ts'

/** The containers that run a matching image, each with its workload. */
export function containersOf(
  workloads: readonly Workload[],
  image: RegExp,
): { workload: Workload; container: Container; image: string }[] {
  return workloads.flatMap((workload) =>
    containersIn(workload).flatMap((container) =>
      image.test(container.image ?? '') ? [{ workload, container, image: container.image ?? '' }] : [],
    ),
  )
}

/** The finding that no pod of a workload is ready. */
export function notReady(workload: Workload): SoftwareFindings {
  const { kind, spec, status = {} } = workload
  const isDaemonSet = kind === 'DaemonSet'
  const wanted = isDaemonSet ? (status.desiredNumberScheduled ?? 0) : (spec?.replicas ?? 1)
  const ready = (isDaemonSet ? status.numberReady : status.readyReplicas) ?? 0
  if (ready > 0) return []
  return {
    level: 'error',
    what: `${kind} ${keyOf(workload)} has ${ready} of ${wanted} pods ready`,
    why: 'nothing announces the addresses',
    fix: { command: describeCommand(workload) },
  }
}

/** The command that shows an object. */
export function describeCommand({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `kubectl describe ${kind.toLowerCase()} -n ${namespace} ${name}`
}

/** The command that changes a ConfigMap. */
export function editCommand({ metadata: { namespace, name } }: KubeObject): string {
  return `kubectl edit configmap -n ${namespace} ${name}`
}
