import type { KubeClient } from '../../../kube/client.ts'
import type { Lease } from '../../../kube/objects.ts'
import { leases } from '../../../kube/resource.ts'
import { isHeld, isOwnIdentity } from '../../../kube/lease.ts'
import { probeOnce } from '../../../webhooks/webhook-probe.ts'
import { type LeadLease, isForeign, isOfTakeover, placeOf } from '../lead-lease.ts'
import type { Missing, TakeoverStep } from '../steps.ts'
import {
  type StoppableWorkload,
  isStopped,
  ownWorkloads,
  readyPods,
  startWorkload,
  waitingReason,
  workloadText,
} from '../workloads.ts'
import { counted } from '../../../lib/text.ts'

/** The chart's default number of replicas. `helm upgrade` restores any other number. */
const usualReplicas = 2

type Leading = { client: KubeClient; namespace: string; lead: LeadLease }

/** Starts those of our workloads that are stopped. */
async function startStopped(client: KubeClient, own: readonly StoppableWorkload[]): Promise<void> {
  for (const workload of own.filter(isStopped)) await startWorkload(client, workload, usualReplicas)
}

type Standby = Leading & {
  signal: AbortSignal
  isElecting: boolean
  /** Called when this run has claimed the lease, so that no predecessor holds it. */
  onClaimed: () => void
}

/**
 * Starts `serve` while the predecessor still works, and waits until the API server reaches it. So a wrong settings
 * file, an image that no node can pull or a firewall shows early. Meanwhile our program does not lead: a predecessor
 * that elects holds the same lease, otherwise this run holds it.
 */
export function standbyStep({ client, namespace, lead, signal, isElecting, onClaimed }: Standby): TakeoverStep {
  /** The guardians of the control-plane address are not on standby, because they act without this lease. */
  const deployment = async () => (await ownWorkloads(client, namespace)).filter(({ kind }) => kind === 'Deployment')
  let first: Lease | undefined
  /** The holder of the lease; undefined if ours cannot lead beside the predecessor, or has led since an earlier run. */
  const holderLeft = async () => {
    if (lead.isOurs()) return undefined
    const stored = await client.get(leases, lead.at)
    first ??= stored
    const { holderIdentity: holder = '', renewTime } = stored?.spec ?? {}
    // A lease that no process renews is left over: the predecessor elects by another lock, or has stopped.
    const isRenewed = renewTime !== first?.spec?.renewTime
    return isRenewed && (isOwnIdentity(holder) || (isElecting && isForeign(holder))) ? undefined : holder
  }
  return {
    title: 'Start eip-admission on standby',
    async missing() {
      const holder = await holderLeft()
      const place = placeOf(lead.at)
      if (holder === '' || (holder !== undefined && isOfTakeover(holder))) return { text: `claiming the ${place}` }
      if (holder !== undefined) return { text: `waiting until the ${place} of ${holder} has expired` }
      const own = await deployment()
      const stopped = own.find(isStopped)
      if (stopped) return { text: `starting ${workloadText(stopped)}` }
      const probed = await probeOnce({ client, namespace }, signal)
      return probed.outcome === 'answered' ? undefined : notReady(client, own, probed.reason)
    },
    async act() {
      if ((await holderLeft()) !== undefined) {
        if ((await lead.claim()) !== '') return
        onClaimed()
      }
      await startStopped(client, await deployment())
    },
  }
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
export function leadStep({ client, namespace, lead }: Omit<Leading, 'signal'>): TakeoverStep {
  const stored = async () => {
    const lease = await client.get(leases, lead.at)
    const holder = lease?.spec?.holderIdentity ?? ''
    return { holder, leads: lease && isOwnIdentity(holder) && isHeld(lease, new Date()) }
  }
  return {
    title: 'Let eip-admission lead',
    async missing() {
      const [{ holder, leads }, own] = await Promise.all([stored(), ownWorkloads(client, namespace)])
      const stopped = own.find(isStopped)
      if (stopped) return { text: `starting ${workloadText(stopped)}` }
      return leads ? undefined : leaderMissing(holder, { own, lead })
    },
    async act() {
      await startStopped(client, await ownWorkloads(client, namespace))
      const { holder, leads } = await stored()
      if (holder !== '' && !leads && (lead.isOurs() || (await lead.claim()) === '')) await lead.release()
    },
  }
}

/** The wait for eip-admission to lead, and the remedy if it does not. */
function leaderMissing(holder: string, { own, lead }: { own: readonly StoppableWorkload[]; lead: LeadLease }): Missing {
  const place = placeOf(lead.at)
  if (isForeign(holder))
    return {
      text: `the ${place} is held by ${holder}, which does not act for eip-admission`,
      hint: `stop that program: \`kubectl get pods -A -o wide | grep ${holder.split('_')[0]}\` finds it`,
    }
  const text = holder === '' ? `no process holds the ${place}` : `freeing the ${place} of ${holder}`
  const deployment = own.find(({ kind }) => kind === 'Deployment')
  if (!deployment) return { text, hint: 'start `eip-admission serve` with the settings that the plan prints' }
  return {
    text: `${text}; ${workloadText(deployment)} has ${counted(readyPods(deployment), 'ready pods')}`,
    hint: `\`kubectl get pods -n ${deployment.metadata.namespace}\``,
  }
}
