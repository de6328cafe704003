import type { KubeClient } from '../../kube/client.ts'
import { listAll } from '../../kube/list-all.ts'
import { keyOf } from '../../kube/objects.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Pod, type Workload, daemonSets, deployments, pods } from '../../kube/workloads.ts'
import { names, stoppedLabel } from '../../settings/installed-names.ts'
import type { ObjectRef } from './plan/plan.ts'
import type { Missing, TakeoverStep } from './steps.ts'
import { matchesSelector } from '../../lib/label-selector.ts'
import { counted } from '../../lib/text.ts'

/** A Deployment or a DaemonSet that a takeover can stop and start. */
export type StoppableWorkload = Workload & { kind: 'Deployment' | 'DaemonSet' }

export type WorkloadRef = ObjectRef & { kind: StoppableWorkload['kind'] }

const resources: Record<StoppableWorkload['kind'], Resource<Workload>> = {
  Deployment: deployments,
  DaemonSet: daemonSets,
}

/** Reads the workloads, and omits those that do not exist. */
export async function readWorkloads(client: KubeClient, refs: readonly WorkloadRef[]): Promise<StoppableWorkload[]> {
  const read = refs.map(async ({ kind, namespace, name }) => {
    const workload = await client.get(resources[kind], { namespace, name })
    return workload ? [{ ...workload, kind }] : []
  })
  return (await Promise.all(read)).flat()
}

/** Whether a reference means this workload. */
export function refersTo(ref: WorkloadRef, { kind, metadata }: Workload): boolean {
  return ref.kind === kind && ref.namespace === metadata.namespace && ref.name === metadata.name
}

/** Our Deployment and the DaemonSet of our guardians, if they exist in the cluster. */
export function ownWorkloads(client: KubeClient, namespace: string): Promise<StoppableWorkload[]> {
  return readWorkloads(client, [
    { kind: 'Deployment', namespace, name: names.deployment },
    { kind: 'DaemonSet', namespace, name: names.guardian },
  ])
}

/** Whether a workload's own spec asks for no pods. */
export function isStopped({ kind, spec }: StoppableWorkload): boolean {
  if (kind === 'Deployment') return spec?.replicas === 0
  return stoppedLabel in (spec?.template?.spec?.nodeSelector ?? {})
}

/** Lets a workload run with this number of replicas, or none. A merge patch keeps the rest of it. */
async function scale(client: KubeClient, { kind, metadata }: StoppableWorkload, replicas: number): Promise<void> {
  // No node has this label.
  const nodeSelector = { [stoppedLabel]: replicas === 0 ? 'true' : null }
  const spec = kind === 'Deployment' ? { replicas } : { template: { spec: { nodeSelector } } }
  await client.patch(resources[kind], {
    namespace: metadata.namespace,
    name: metadata.name,
    patch: { merge: { spec } },
  })
}

/** The number of a workload's ready pods. */
export function readyPods({ kind, status }: StoppableWorkload): number {
  return (kind === 'Deployment' ? status?.readyReplicas : status?.numberReady) ?? 0
}

/** A workload as people type it. */
export function workloadText(workload: StoppableWorkload): string {
  return `${workload.kind} ${keyOf(workload)}`
}

type Starting = Pick<TakeoverStep, 'title' | 'act'> & {
  workloads: () => Promise<StoppableWorkload[]>
  /** The number of replicas that a Deployment gets. */
  replicas: (workload: StoppableWorkload) => number
  /** The part that is left when none of the workloads is stopped. */
  missing: (started: readonly StoppableWorkload[]) => Promise<Missing | undefined>
}

/** Starts workloads that are stopped, then acts, and waits until nothing is missing. */
export function startStep(client: KubeClient, { title, workloads, replicas, missing, act }: Starting): TakeoverStep {
  return {
    title,
    async missing() {
      const all = await workloads()
      const stopped = all.find(isStopped)
      return stopped ? { text: `starting ${workloadText(stopped)}` } : missing(all)
    },
    async act() {
      for (const one of await workloads()) if (isStopped(one)) await scale(client, one, replicas(one))
      await act?.()
    },
  }
}

type Stopping = Pick<TakeoverStep, 'title'> & {
  workloads: () => Promise<StoppableWorkload[]>
  /** Called with every pod that a look still finds. */
  note?: (pod: Pod) => void
}

/** Stops workloads and waits until they have no pod left. */
export function stopStep(client: KubeClient, { title, workloads, note }: Stopping): TakeoverStep {
  return {
    title,
    missing: async () => stillRunning(client, await workloads(), note),
    async act() {
      for (const one of await workloads()) if (!isStopped(one)) await scale(client, one, 0)
    },
    async returned() {
      const back = (await workloads()).find((one) => !isStopped(one))
      return back && `${workloadText(back)} was started again by ${writerOf(back)}`
    },
  }
}

/** The last writer of a workload's spec besides us, from its managed fields. */
function writerOf({ metadata }: StoppableWorkload): string {
  const writers = (metadata.managedFields ?? [])
    .filter(({ subresource, manager = '' }) => !subresource && !manager.startsWith(ownManager))
    .toSorted((one, other) => (one.time ?? '').localeCompare(other.time ?? ''))
  const last = writers.at(-1)
  return last ? `${last.manager} (${last.operation} at ${last.time})` : 'an unknown writer'
}

/** The prefix of our field managers. */
const ownManager = 'eip-admission'

/** The wait until workloads have no pod. A pod that is ending may still act, so it counts until it is deleted. */
async function stillRunning(
  client: KubeClient,
  workloads: readonly StoppableWorkload[],
  note: (pod: Pod) => void = () => {},
): Promise<Missing | undefined> {
  for (const workload of workloads) {
    const left = await podsOf(client, workload)
    left.forEach(note)
    if (!isStopped(workload)) return { text: `stopping ${workloadText(workload)}` }
    const [pod] = left
    if (pod)
      return {
        text: `${workloadText(workload)} still has ${counted(left.length, 'pods')}`,
        hint: `if its node no longer exists: \`kubectl get pod -n ${pod.metadata.namespace} ${pod.metadata.name} -o wide\``,
      }
  }
  return undefined
}

/** The pods of a workload, including those that are ending. */
async function podsOf(
  client: KubeClient,
  { metadata: { namespace = '' }, spec = {} }: StoppableWorkload,
): Promise<Pod[]> {
  const { selector } = spec
  // Without a selector every pod of the namespace would count.
  if (!selector) return []
  const labels = Object.entries(selector.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`)
  const found = await listAll(client, pods, { namespace, labelSelector: labels.join() })
  const isOver = (phase = '') => phase === 'Succeeded' || phase === 'Failed'
  return found.filter(({ metadata, status }) => matchesSelector(metadata.labels, selector) && !isOver(status?.phase))
}

/** The kubelet's reason why a pod of a workload does not start; undefined if it reports none. */
export async function waitingReason(client: KubeClient, workload: StoppableWorkload): Promise<string | undefined> {
  const all = await podsOf(client, workload)
  const waiting = all.flatMap(
    ({ status }) => status?.containerStatuses?.flatMap(({ state }) => state?.waiting ?? []) ?? [],
  )
  const [first] = waiting.filter(({ reason }) => reason !== 'ContainerCreating')
  return first && [first.reason, first.message].filter(Boolean).join(': ')
}
