import { keyOf } from '../../../kube/objects.ts'
import { type Pod, type Workload, containersIn, isRunning } from '../../../kube/workloads.ts'
import { type Predecessor, runningVersion } from '../../../inspect/predecessors.ts'
import type { FoundPredecessors, FoundWorkload } from '../../../inspect/find-predecessors.ts'
import { valueOf } from '../../../inspect/fact.ts'
import { isForeign } from '../lead-lease.ts'
import type { Progress } from '../progress.ts'
import type { PlanInput } from './facts.ts'
import type { PlannedLeases } from './plan-leases.ts'
import {
  type PlanFinding,
  type PlanFindings,
  type PlannedLease,
  type PredecessorWorkload,
  blocker,
  warning,
} from './plan.ts'
import { helmFinding, helmReleaseOf, managerFinding } from './workload-managers.ts'
import { refersTo } from '../workloads.ts'
import { shell } from '../../../lib/remedy.ts'

/** The workloads of the predecessor, and their findings. Pure. */
export function planPredecessor(
  { found, predecessor, facts }: PlanInput,
  { lease, leader }: Pick<PlannedLeases, 'lease' | 'leader'>,
): {
  workloads: PredecessorWorkload[]
  findings: PlanFinding[]
} {
  const own = ownWorkloads(found, predecessor)
  const others = found.workloads.filter((one) => !own.includes(one) && isRunning(one.object))
  const running = own.filter(({ object }) => isRunning(object))
  // Once a takeover has started, our program may already run.
  const begun = valueOf(facts.progress)
  return {
    workloads: own.map(describeWorkload),
    findings: [
      ...others.map(otherPredecessor),
      ...found.pods.map(loosePod),
      ...running.flatMap(versionFinding),
      ...running.flatMap(({ object }) => managerFinding(object)),
      ...(begun
        ? running.flatMap((one) => lateFinding(one, begun))
        : [ownProgram(valueOf(facts.workloads) ?? [], leader)].flat()),
      ...(running.length === 0 && !begun ? [notRunning(own, lease)] : []),
      ...running.flatMap(({ object }) => helmFinding(object)),
    ],
  }
}

function ownWorkloads({ workloads }: FoundPredecessors, { dialect }: Predecessor): FoundWorkload[] {
  return workloads.filter((one) => one.predecessor.dialect === dialect)
}

/** A workload for the plan, with everything that is needed to restore it. */
function describeWorkload({ object, image, predecessor }: FoundWorkload): PredecessorWorkload {
  const { kind, metadata, spec } = object
  const release = helmReleaseOf(object)
  return {
    ...(kind === 'DaemonSet' ? { kind } : { kind: 'Deployment', replicas: spec?.replicas ?? 1 }),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    image,
    version: runningVersion({ image, predecessor }),
    isRunning: isRunning(object),
    ...(release !== undefined && { helmRelease: release }),
  }
}

function otherPredecessor({ object, image }: FoundWorkload): PlanFinding {
  return blocker('several-predecessors', `${object.kind} ${keyOf(object)}`, {
    what: `it runs ${image}: another program that serves the same Services`,
    remedy: 'stop the one that does not belong to this cloud, then run takeover plan again',
  })
}

/** Reports a workload that did not run when the takeover began: `undo` would not know which one to start. */
function lateFinding({ object }: FoundWorkload, { found }: Progress): PlanFindings {
  if (found.workloads.some((ref) => ref.isRunning && refersTo(ref, object))) return []
  return blocker('late-predecessor', `${object.kind} ${keyOf(object)}`, {
    what: 'it is running now, but was not when the takeover started',
    remedy: shell`eip-admission takeover undo   # or stop it`,
  })
}

function loosePod({ metadata }: Pod): PlanFinding {
  const owner = metadata.ownerReferences?.[0]
  return blocker('predecessor-pod', `Pod ${metadata.namespace}/${metadata.name}`, {
    what: `it runs the predecessor, and no Deployment or DaemonSet created it${owner ? ` but ${owner.kind} ${owner.name}` : ''}: apply cannot stop it`,
    remedy:
      owner?.kind === 'Node'
        ? `move its manifest out of the folder of static pods on node ${owner.name}`
        : shell`kubectl delete pod -n ${metadata.namespace} ${metadata.name}   # and whatever recreates it`,
  })
}

function versionFinding({ object, image, predecessor }: FoundWorkload): PlanFindings {
  const { versions, title } = predecessor
  const where = `${object.kind} ${keyOf(object)}`
  const version = runningVersion({ image, predecessor })
  if (version === undefined)
    return warning('unnamed-version', where, {
      what: `${image} names no version of ${title}; the plan assumes a current version`,
      remedy: 'compare the list of Services above with what you expect',
    })
  if (versions.includes(Number(version.split('.')[0]))) return []
  const known = versions.map((major) => `${major}.x`).join(', ')
  return blocker('unknown-version', where, {
    what: `it runs version ${version} of ${title}; eip-admission knows ${known}, and other versions may mark their reservations differently`,
    remedy: `upgrade it to ${known} first, and let it settle`,
  })
}

function notRunning(own: readonly FoundWorkload[], { isUsed, holder = '' }: PlannedLease): PlanFinding {
  const [first] = own
  if (!first && isUsed && isForeign(holder))
    return blocker('runs-unseen', 'the lease of the predecessor', {
      what: `${holder} holds it and renews it, so the predecessor runs, but no workload with it was found`,
      remedy: shell`kubectl get pods -A -o wide | grep ${holder.split('_')[0]}   # finds its pod: stop it, then run takeover plan again`,
    })
  return warning('not-running', first ? `${first.object.kind} ${keyOf(first.object)}` : 'the cluster', {
    what: first
      ? 'it has no replicas: the predecessor is already stopped'
      : 'no workload runs a predecessor. If it runs outside of the cluster, takeover cannot stop it',
    remedy: first ? 'nothing' : 'make sure that it is stopped before you run takeover apply',
  })
}

/** Reports a `serve` that no takeover started: it leads, or a workload runs it. */
function ownProgram(all: readonly Workload[], leader: string | undefined): PlanFindings {
  const ours = all.filter(isOurs).map((object) => `${object.kind} ${keyOf(object)}`)
  const where = [...ours, ...(leader === undefined ? [] : [`the holder of the lease, ${leader}`])]
  if (where.length === 0) return []
  return blocker('already-running', where.join(', '), {
    what: 'eip-admission is already running for this cluster',
    remedy: 'stop it; if it already serves the cluster, run `eip-admission doctor` to check it',
  })
}

function isOurs(object: Workload): boolean {
  const images = containersIn(object).map(({ image = '' }) => image)
  return images.some((image) => /(^|\/)eip-admission(?=[:@]|$)/.test(image)) && isRunning(object)
}
