import { keyOf } from '../../../kube/objects.ts'
import {
  type FoundPredecessors,
  type FoundWorkload,
  describeWorkload,
  isRunning,
} from '../predecessors/find-predecessor.ts'
import type { ProgramObject } from '../predecessors/pod-template.ts'
import type { Predecessor } from '../../../inspect/predecessors.ts'
import type { Autoscaler } from './facts.ts'
import type { Finding, PredecessorWorkload } from './plan.ts'
import { autoscalerFinding, helmFinding, managerFinding } from './workload-managers.ts'

type Seen = {
  found: FoundPredecessors
  predecessor: Predecessor
  /** Whether a takeover was begun: then our program may run already. */
  isBegun: boolean
  programs: readonly ProgramObject[]
  autoscalers: readonly Autoscaler[]
}

/** The workloads of the predecessor, and what of them stands in the way. Pure. */
export function planPredecessor({ found, predecessor, isBegun, programs, autoscalers }: Seen): {
  workloads: PredecessorWorkload[]
  blockers: Finding[]
  warnings: Finding[]
} {
  const own = found.workloads.filter((one) => one.predecessor.dialect === predecessor.dialect)
  const others = found.workloads.filter((one) => !own.includes(one) && isRunning(one.object))
  const running = own.filter(({ object }) => isRunning(object))
  return {
    workloads: own.map(describeWorkload),
    blockers: [
      ...others.map(otherPredecessor),
      ...found.pods.map(loosePod),
      ...running.flatMap(majorFinding),
      ...running.flatMap(({ object }) => managerFinding(object)),
      ...(isBegun ? [] : programs.filter(isOurs).map(ownProgram)),
    ],
    warnings: [
      ...(running.length === 0 && !isBegun ? [notRunning(own)] : []),
      ...running.flatMap(unnamedVersion),
      ...running.flatMap(({ object }) => helmFinding(object)),
      ...autoscalers.flatMap((one) => autoscalerFinding(one, running)),
    ],
  }
}

function otherPredecessor({ object, image }: FoundWorkload): Finding {
  return {
    reason: 'several-predecessors',
    where: `${object.kind} ${keyOf(object)}`,
    what: `it runs ${image}: another program that serves the same Services`,
    remedy: 'stop the one that does not belong to this cloud, then run takeover plan again',
  }
}

function loosePod({ metadata }: ProgramObject): Finding {
  const owner = metadata.ownerReferences?.[0]
  const isStatic = owner?.kind === 'Node'
  return {
    reason: 'predecessor-pod',
    where: `Pod ${metadata.namespace}/${metadata.name}`,
    what: `it runs the predecessor, and no Deployment or DaemonSet made it${owner ? ` but ${owner.kind} ${owner.name}` : ''}: apply cannot stop it`,
    remedy: isStatic
      ? `move its manifest out of the folder of static pods on node ${owner.name}`
      : `kubectl delete pod -n ${metadata.namespace} ${metadata.name}   # and whatever makes it again`,
  }
}

function majorFinding({ object, image, predecessor }: FoundWorkload): Finding[] {
  const { version } = describeWorkload({ object, image, predecessor, container: {} })
  if (version === undefined || predecessor.versions.includes(Number(version.split('.')[0]))) return []
  const known = predecessor.versions.map((major) => `${major}.x`).join(', ')
  return [
    {
      reason: 'unknown-version',
      where: `${object.kind} ${keyOf(object)}`,
      what: `it runs version ${version} of ${predecessor.title}; we know ${known}, and others may mark their reservations in another way`,
      remedy: `upgrade it to ${known} first, and let it settle`,
    },
  ]
}

function unnamedVersion({ object, image }: FoundWorkload): Finding[] {
  if (describeWorkload({ object, image } as FoundWorkload).version !== undefined) return []
  return [
    {
      reason: 'unnamed-version',
      where: `${object.kind} ${keyOf(object)}`,
      what: `the tag of ${image} names no version; the plan takes it for a current one`,
      remedy: 'compare the list of Services above with what you expect',
    },
  ]
}

function notRunning(own: readonly FoundWorkload[]): Finding {
  const [first] = own
  return {
    reason: 'not-running',
    where: first ? `${first.object.kind} ${keyOf(first.object)}` : 'the cluster',
    what: first
      ? 'it has no replica: the predecessor is stopped already'
      : 'no workload runs a predecessor. If it runs outside of the cluster, takeover cannot stop it',
    remedy: first ? 'nothing' : 'make sure yourself that it is stopped before takeover apply',
  }
}

function isOurs(object: ProgramObject): boolean {
  const images = (object.spec?.template?.spec?.containers ?? []).map(({ image = '' }) => image)
  return images.some((image) => /(^|\/)eip-admission(?=[:@]|$)/.test(image)) && isRunning(object)
}

function ownProgram({ kind, metadata }: ProgramObject): Finding {
  return {
    reason: 'already-running',
    where: `${kind} ${metadata.namespace}/${metadata.name}`,
    what: 'eip-admission runs in this cluster already',
    remedy: 'if a takeover was begun, continue it: eip-admission takeover apply; else look: eip-admission doctor',
  }
}
