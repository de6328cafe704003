import type { KubeClient } from '../../../kube/client.ts'
import type { Lease } from '../../../kube/objects.ts'
import { leases } from '../../../kube/resource.ts'
import { isHeld, isOwnIdentity } from '../../../kube/lease-holder.ts'
import type { ObjectRef } from '../plan/plan.ts'
import type { Missing, TakeoverStep } from '../steps.ts'
import {
  type StoppableWorkload,
  isStopped,
  ownWorkloads,
  readyPods,
  replicasAnnotation,
  startWorkload,
  workloadText,
} from '../workloads.ts'

/** As many as the chart runs by default. */
const usualReplicas = 2

type Target = { namespace: string; lease: ObjectRef }

/** What is left until a process of ours leads, and what a person should do if none comes. */
function leaderMissing(
  lease: Lease | undefined,
  { own, now, target }: { own: readonly StoppableWorkload[]; now: Date; target: Target },
): Missing | undefined {
  const { namespace } = target.lease
  const place = `lease ${namespace}/${target.lease.name}`
  const holder = lease?.spec?.holderIdentity ?? ''
  if (lease && isOwnIdentity(holder) && isHeld(lease, now)) return undefined
  const text =
    holder === '' ? `nobody holds the ${place}` : `the ${place} is held by ${holder}, which does not act for us`
  if (holder !== '' && !isOwnIdentity(holder))
    return { text, hint: `stop that program: kubectl get pods -A -o wide | grep ${holder.split('_')[0]}` }
  const deployment = own.find(({ kind }) => kind === 'Deployment')
  if (!deployment)
    return {
      text,
      hint: `install the chart as \`eip-admission takeover plan\` says at its end, or start \`eip-admission serve\` with the settings that it prints`,
    }
  const ready = readyPods(deployment)
  return {
    text: `${text}; ${workloadText(deployment)} has ${ready} ready pods`,
    hint: `kubectl get pods -n ${target.namespace}`,
  }
}

/** Starts our workload if it is stopped, and waits until a process of ours leads. */
export function leadStep(client: KubeClient, target: Target): TakeoverStep {
  return {
    name: 'lead',
    title: 'Let eip-admission lead',
    async missing() {
      const [lease, own] = await Promise.all([client.get(leases, target.lease), ownWorkloads(client, target.namespace)])
      const stopped = own.find(isStopped)
      if (stopped) return { text: `starting ${workloadText(stopped)}` }
      return leaderMissing(lease, { own, now: new Date(), target })
    },
    async act() {
      const stopped = (await ownWorkloads(client, target.namespace)).filter(isStopped)
      for (const workload of stopped) {
        const before = workload.metadata.annotations?.[replicasAnnotation]
        await startWorkload(client, workload, Number(before ?? usualReplicas))
      }
    },
  }
}
