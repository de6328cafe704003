import type { KubeClient } from '../../kube/client.ts'
import type { Missing, Step } from './steps.ts'
import { type Workload, countPods, isStopped, patchWorkload, stopPatch, textOf } from './workloads.ts'

/** A workload that is to stop, and the pods by which we see that it did. */
export type Stopping = { workload: Workload; podSelector: Record<string, string> }

/** What is left until workloads have no pod. Pods in the list of the API server may still run, so they count until they are gone. */
async function stillRunning(client: KubeClient, stopping: readonly Stopping[]): Promise<Missing | undefined> {
  for (const { workload, podSelector } of stopping) {
    const { namespace = '' } = workload.metadata
    const ref = { kind: workload.kind, namespace, name: workload.metadata.name }
    if (!isStopped(workload)) return { text: `stopping ${textOf(ref)}` }
    const count = await countPods(client, namespace, podSelector)
    if (count > 0)
      return {
        text: `${textOf(ref)} still has ${count} ${count === 1 ? 'pod' : 'pods'}`,
        hint: `if its node is gone: kubectl get pods -n ${namespace} -l ${Object.entries(podSelector)
          .map(([name, value]) => `${name}=${value}`)
          .join()}`,
      }
  }
  return undefined
}

/** Stops workloads and waits until no pod of them is left. */
export function stopStep(
  about: Pick<Step, 'name' | 'title'>,
  client: KubeClient,
  workloads: () => Promise<Stopping[]>,
): Step & { act(): Promise<void> } {
  return {
    ...about,
    missing: async () => stillRunning(client, await workloads()),
    async act() {
      const running = (await workloads()).filter(({ workload }) => !isStopped(workload))
      for (const { workload } of running) {
        const { namespace = '', name } = workload.metadata
        await patchWorkload(client, { kind: workload.kind, namespace, name }, stopPatch(workload))
      }
    },
  }
}
