import type { KubeClient } from '../../../kube/client.ts'
import { leases } from '../../../kube/resource.ts'
import { isHeld, isOwnIdentity } from '../../../kube/lease-holder.ts'
import type { Found } from '../found.ts'
import { isOfTakeover } from '../lease-steps.ts'
import type { Step } from '../steps.ts'
import { isStopped, readWorkload, readyPods, startWorkload } from '../workloads.ts'

/** Starts the predecessor as it was found, and waits until it runs and, where it elects a leader, leads. */
export function returnStep(client: KubeClient, { workloads, lease }: Found, release: () => Promise<void>): Step {
  const place = { namespace: lease.namespace, name: lease.name }
  return {
    name: 'start-predecessor',
    title: 'Start the predecessor',
    async missing() {
      for (const ref of workloads) {
        const { kind, namespace, name } = ref
        const text = `${kind} ${namespace}/${name}`
        const workload = await readWorkload(client, ref)
        if (!workload)
          return { text: `${text} does not exist`, hint: 'install the predecessor again as it was installed' }
        if (isStopped(workload)) return { text: `starting ${text}` }
        if (readyPods(workload) === 0)
          return { text: `${text} has no ready pod yet`, hint: `kubectl get pods -n ${namespace}` }
      }
      const stored = lease.isUsed ? await client.get(leases, place) : undefined
      const holder = stored?.spec?.holderIdentity ?? ''
      const leads = stored && isHeld(stored, new Date()) && !isOwnIdentity(holder) && !isOfTakeover(holder)
      if (leads || !lease.isUsed) return undefined
      return { text: `its pod runs; waiting until it holds the lease ${place.namespace}/${place.name}` }
    },
    async act() {
      for (const ref of workloads) {
        const workload = await readWorkload(client, ref)
        // A person may have stopped it before we came: one replica is what the manifests say.
        if (workload && isStopped(workload)) await startWorkload(client, workload, ref.replicas || 1)
      }
      const read = await Promise.all(workloads.map((ref) => readWorkload(client, ref)))
      // Until its pod can take the lease, no other program should.
      if (read.every((workload) => workload && readyPods(workload) > 0)) await release()
    },
  }
}
