import type { KubeClient } from '../../../kube/client.ts'
import { leases } from '../../../kube/resource.ts'
import { isHeld, isOwnIdentity } from '../../../kube/lease.ts'
import { probeOnce } from '../../../webhooks/webhook-probe.ts'
import { type LeadLease, holdingText, isForeign, placeOf } from '../lead-lease.ts'
import type { Missing, TakeoverStep } from '../steps.ts'
import {
  type StoppableWorkload,
  ownWorkloads,
  readyPods,
  startStep,
  waitingReason,
  workloadText,
} from '../workloads.ts'
import { counted } from '../../../lib/text.ts'

/** The chart's default number of replicas. `helm upgrade` restores any other number. */
const usualReplicas = () => 2

type Ours = { client: KubeClient; namespace: string }

/**
 * Starts `serve` while the predecessor still works, and waits until the API server reaches it. So a wrong settings
 * file, an image that no node can pull or a firewall shows early. The guardians of the control-plane address are not on
 * standby, because they act without the lease that keeps ours from leading.
 */
export function standbyStep({ client, namespace }: Ours, signal: AbortSignal): TakeoverStep {
  return startStep(client, {
    title: 'Start eip-admission on standby',
    workloads: async () => (await ownWorkloads(client, namespace)).filter(({ kind }) => kind === 'Deployment'),
    replicas: usualReplicas,
    async missing(own) {
      const probed = await probeOnce({ client, namespace }, signal)
      return probed.outcome === 'answered' ? undefined : notReady(client, own, probed.reason)
    },
  })
}

/** The reason why the webhooks of a `serve` on standby do not answer, and the remedy. */
async function notReady(client: KubeClient, own: readonly StoppableWorkload[], reason: string): Promise<Missing> {
  const [workload] = own
  if (!workload)
    return {
      text: `no eip-admission answers yet (${reason})`,
      hint: 'install the chart as `eip-admission takeover plan` says at its end, or start `eip-admission serve` with the settings that it prints',
    }
  const waiting = await waitingReason(client, workload)
  const why = waiting === undefined ? reason : `a pod waits: ${waiting}`
  return {
    text: `${workloadText(workload)} has ${counted(readyPods(workload), 'ready pods')} (${why})`,
    hint: `\`kubectl describe pods -n ${workload.metadata.namespace}\``,
  }
}

/**
 * Frees the lease that the predecessor left, starts workloads that are still stopped, and waits until one of our
 * processes leads.
 */
export function leadStep({ client, namespace }: Ours, lead: LeadLease): TakeoverStep {
  const stored = async () => {
    const lease = await client.get(leases, lead.at)
    const holder = lease?.spec?.holderIdentity ?? ''
    return { holder, leads: lease && isOwnIdentity(holder) && isHeld(lease, new Date()) }
  }
  return startStep(client, {
    title: 'Let eip-admission lead',
    workloads: () => ownWorkloads(client, namespace),
    replicas: usualReplicas,
    async missing(own) {
      const { holder, leads } = await stored()
      return leads ? undefined : leaderMissing(holder, { own, lead })
    },
    async act() {
      const { holder, leads } = await stored()
      if (holder !== '' && !leads && (await lead.claim())) await lead.release()
    },
  })
}

/** The wait for eip-admission to lead, and the remedy if it does not. */
function leaderMissing(holder: string, { own, lead }: { own: readonly StoppableWorkload[]; lead: LeadLease }): Missing {
  const place = placeOf(lead.at)
  if (isForeign(holder)) return holdingText(holder, place)
  const text = holder === '' ? `no process holds the ${place}` : `freeing the ${place} of ${holder}`
  const deployment = own.find(({ kind }) => kind === 'Deployment')
  if (!deployment) return { text, hint: 'start `eip-admission serve` with the settings that the plan prints' }
  return {
    text: `${text}; ${workloadText(deployment)} has ${counted(readyPods(deployment), 'ready pods')}`,
    hint: `\`kubectl get pods -n ${deployment.metadata.namespace}\``,
  }
}
