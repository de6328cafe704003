import type { KubeClient } from '../../kube/client.ts'
import { isNotFound } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import type { Resource } from '../../kube/resource.ts'
import { names } from '../../settings/installed-names.ts'
import type * as inspect from '../../inspect/facts.ts'
import { daemonSets, deployments, pods } from '../../inspect/kinds.ts'
import type { ObjectRef } from './plan/plan.ts'

/** A Deployment or a DaemonSet, as far as a takeover stops and starts it. */
export type Workload = inspect.Workload & { kind: 'Deployment' | 'DaemonSet' }

export type WorkloadRef = ObjectRef & { kind: Workload['kind'] }

const resources: Record<Workload['kind'], Resource<inspect.Workload>> = {
  Deployment: deployments,
  DaemonSet: daemonSets,
}

/** No node has this label: a DaemonSet that requires it runs nowhere. */
export const stoppedLabel = 'eip-admission.dev/stopped-by-takeover'

/** How many replicas a Deployment of ours had when `undo` stopped it. */
export const replicasAnnotation = 'eip-admission.dev/replicas-before-undo'

/** Reads a workload; undefined if it does not exist. */
export async function readWorkload(client: KubeClient, { kind, ...at }: WorkloadRef): Promise<Workload | undefined> {
  const workload = await client.get(resources[kind], { namespace: at.namespace, name: at.name })
  return workload && { ...workload, kind }
}

/** Our Deployment, and the DaemonSet of our guardians, as far as they are in the cluster. */
export async function ownWorkloads(client: KubeClient, namespace: string): Promise<Workload[]> {
  const refs: WorkloadRef[] = [
    { kind: 'Deployment', namespace, name: names.deployment },
    { kind: 'DaemonSet', namespace, name: names.guardian },
  ]
  const read = await Promise.all(refs.map((ref) => readWorkload(client, ref)))
  return read.filter((workload) => workload !== undefined)
}

/** Whether a workload has no pod by what it says itself. */
export function isStopped({ kind, spec }: Workload): boolean {
  if (kind === 'Deployment') return spec?.replicas === 0
  return stoppedLabel in (spec?.template?.spec?.nodeSelector ?? {})
}

/** The merge patch that stops a workload and keeps everything else of it. */
export function stopPatch({ kind }: Pick<Workload, 'kind'>): object {
  return kind === 'Deployment' ? { spec: { replicas: 0 } } : selectorPatch('true')
}

/** The merge patch that lets a workload run again, a Deployment with so many replicas. */
export function startPatch({ kind }: Pick<Workload, 'kind'>, replicas: number): object {
  return kind === 'Deployment' ? { spec: { replicas } } : selectorPatch(null)
}

function selectorPatch(value: string | null): object {
  return { spec: { template: { spec: { nodeSelector: { [stoppedLabel]: value } } } } }
}

/** Writes a merge patch to a workload. */
export async function patchWorkload(client: KubeClient, workload: WorkloadRef, merge: object): Promise<void> {
  const { kind, namespace, name } = workload
  await client.patch(resources[kind], { namespace, name, patch: { merge } })
}

/** How many pods of a workload exist, those that are ending included. */
export async function countPods(
  client: KubeClient,
  namespace: string,
  selector: Readonly<Record<string, string>>,
): Promise<number> {
  const labelSelector = Object.entries(selector)
    .map(([name, value]) => `${name}=${value}`)
    .join()
  // Without a selector every pod of the namespace would count.
  if (labelSelector === '') return 0
  try {
    const found = await listAll(client, pods, { namespace, labelSelector })
    return found.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed').length
  } catch (error) {
    if (isNotFound(error)) return 0
    throw error
  }
}

/** How many pods of a workload are ready. */
export function readyPods({ kind, status }: Workload): number {
  return (kind === 'Deployment' ? status?.readyReplicas : status?.numberReady) ?? 0
}

/** A workload as people type it. */
export function textOf({ kind, namespace, name }: WorkloadRef): string {
  return `${kind} ${namespace}/${name}`
}
