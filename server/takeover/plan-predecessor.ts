import { keyOf } from '../../kube/objects.ts'
import type { KubeObject, Lease } from '../../kube/objects.ts'
import { isHeld, isOwnIdentity } from '../lease-holder.ts'
import { suspendedAnnotation } from './annotations.ts'
import type { Autoscaler } from './facts.ts'
import { type FoundPredecessors, type FoundWorkload, describeWorkload, isRunning } from './find-predecessor.ts'
import type { Finding, ObjectRef, PlannedLease, PredecessorWorkload } from './plan.ts'
import type { ProgramObject } from './pod-template.ts'
import type { Predecessor } from './predecessors.ts'

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
      ...(isBegun ? [begun] : []),
      ...(running.length === 0 && !isBegun ? [notRunning(own)] : []),
      ...running.flatMap(unnamedVersion),
      ...running.flatMap(({ object }) => helmFinding(object)),
      ...autoscalers.flatMap((one) => autoscalerFinding(one, running)),
    ],
  }
}

const begun: Finding = {
  reason: 'takeover-begun',
  where: 'the cluster',
  what: 'a takeover was begun: the plan shows what is left of it',
  remedy: 'eip-admission takeover apply continues it, eip-admission takeover undo goes back',
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
      remedy: 'compare the list of Services below with what you expect',
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

/** Who would undo it when a workload is stopped: by a label or annotation that they write, or as its owner. */
const managers: { name: string; marks: readonly string[]; remedy: string }[] = [
  {
    name: 'Argo CD',
    marks: ['argocd.argoproj.io/tracking-id', 'argocd.argoproj.io/instance'],
    remedy: 'turn automatic sync of its Application off, or set its replicas to 0 in the repository, then plan again',
  },
  {
    name: 'Flux',
    marks: ['kustomize.toolkit.fluxcd.io/name', 'helm.toolkit.fluxcd.io/name'],
    remedy:
      'flux suspend kustomization or helmrelease of that name, then annotate the workload, or remove it in the repository',
  },
  {
    name: 'the addon manager',
    marks: ['addonmanager.kubernetes.io/mode'],
    remedy: 'set its label addonmanager.kubernetes.io/mode to EnsureExists, and remove its manifest from the node',
  },
  {
    name: "k3s or RKE2's folder of manifests",
    marks: ['objectset.rio.cattle.io/id', 'objectset.rio.cattle.io/hash'],
    remedy: 'put a file with the name of its manifest and the ending .skip beside it on every server',
  },
]

function managerFinding(object: ProgramObject): Finding[] {
  const { labels = {}, annotations = {}, ownerReferences = [] } = object.metadata
  if (annotations[suspendedAnnotation] === 'true') return []
  const marks = { ...labels, ...annotations }
  const found = managers.find((one) => one.marks.some((mark) => marks[mark] !== undefined))
  const owner = ownerReferences.find(({ controller }) => controller) ?? ownerReferences[0]
  if (!found && !owner) return []
  const name = found?.name ?? `${owner?.kind} ${owner?.name}`
  const at = `${object.kind.toLowerCase()} -n ${object.metadata.namespace} ${object.metadata.name}`
  return [
    {
      reason: 'managed-workload',
      where: `${object.kind} ${keyOf(object)}`,
      what: `${name} manages it, and would start it again while eip-admission runs`,
      remedy: `${found?.remedy ?? 'suspend that owner'}; then: kubectl annotate ${at} ${suspendedAnnotation}=true`,
    },
  ]
}

function helmFinding({ kind, metadata }: KubeObject): Finding[] {
  const { labels = {}, annotations = {} } = metadata
  const release = annotations['meta.helm.sh/release-name']
  if (labels['app.kubernetes.io/managed-by'] !== 'Helm' && release === undefined) return []
  return [
    {
      reason: 'helm-release',
      where: `${kind} ${metadata.namespace}/${metadata.name}`,
      what: `it belongs to the Helm release ${release ?? 'of its label'}: helm upgrade would start the predecessor again`,
      remedy: 'do not upgrade that release until the takeover is final; uninstall it afterwards',
    },
  ]
}

function autoscalerFinding({ metadata, spec }: Autoscaler, running: readonly FoundWorkload[]): Finding[] {
  const { kind, name } = spec?.scaleTargetRef ?? {}
  const target = running.find(
    ({ object }) =>
      object.kind === kind && object.metadata.name === name && object.metadata.namespace === metadata.namespace,
  )
  if (!target) return []
  return [
    {
      reason: 'autoscaled',
      where: `HorizontalPodAutoscaler ${metadata.namespace}/${metadata.name}`,
      what: `it scales ${kind} ${name}; it leaves a workload with no replica alone`,
      remedy: 'remove it if something else sets the replicas',
    },
  ]
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

type SeenLeases = {
  /** The lease of the predecessor. */
  at: ObjectRef
  isUsed: boolean
  isBegun: boolean
  ours: ObjectRef
  leases: readonly Lease[]
  now: Date
}

/** The lease of the predecessor, and what of the leases stands in the way. Pure. */
export function planLease(of: SeenLeases): { lease: PlannedLease; blockers: Finding[]; warnings: Finding[] } {
  const { at, isUsed, isBegun, ours, leases, now } = of
  const find = ({ namespace, name }: ObjectRef) => leases.find((one) => keyOf(one) === `${namespace}/${name}`)
  const { holderIdentity: holder, renewTime } = find(at)?.spec ?? {}
  const own = find(ours)
  const isLed = own !== undefined && isHeld(own, now) && isOwnIdentity(own.spec?.holderIdentity ?? '')
  const isOther = isUsed && (at.namespace !== ours.namespace || at.name !== ours.name)
  return {
    lease: { ...at, isUsed, holder: holder === '' ? undefined : holder, ...(renewTime !== undefined && { renewTime }) },
    blockers: isLed && !isBegun ? [ownLeader(ours, own)] : [],
    warnings: isOther ? [otherLease(at, ours)] : [],
  }
}

function ownLeader({ namespace, name }: ObjectRef, { spec }: Lease): Finding {
  return {
    reason: 'already-running',
    where: `Lease ${namespace}/${name}`,
    what: `a \`serve\` of eip-admission holds it (${spec?.holderIdentity})`,
    remedy: 'stop it, or continue the takeover that was begun: eip-admission takeover apply',
  }
}

function otherLease(at: ObjectRef, ours: ObjectRef): Finding {
  return {
    reason: 'other-lease',
    where: `Lease ${ours.namespace}/${ours.name}`,
    what: `the predecessor leads by ${at.namespace}/${at.name}: the two leases do not exclude both programs from running`,
    remedy: `--leader-elect-resource-name=${at.name} --leader-elect-resource-namespace=${at.namespace}`,
  }
}
