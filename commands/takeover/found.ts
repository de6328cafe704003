import { type Marks, isCounting, isOurs, isWritten } from '../../announcers/metallb/ownership.ts'
import {
  type BGPPeer,
  bgpAdvertisements,
  bgpPeers,
  ipAddressPools,
  isPeer,
} from '../../announcers/metallb/resources.ts'
import { listAllKnown } from '../../controllers/announcing/list-known.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Key, KubeObject } from '../../kube/objects.ts'
import { names } from '../../settings/installed-names.ts'
import type { ObjectRef, PlannedLease, PredecessorWorkload, TakeoverPlan } from './plan/plan.ts'
import { type Routes, readRoutes } from './routes.ts'
import { type Predecessor, predecessors } from '../../inspect/predecessors.ts'

/** An object of MetalLB as the predecessor wrote it, without what changes with each Service, and without a password. */
export type FoundObject = {
  kind: string
  name: string
  labels: Record<string, string>
  annotations: Record<string, string>
  spec: Record<string, unknown>
}

/** What `undo` brings back. It holds no secret: a ConfigMap keeps it. */
export type Found = {
  predecessor: Predecessor['id']
  workloads: PredecessorWorkload[]
  /** Its lease. */
  lease: PlannedLease
  /** The lease by which our program leads. */
  ourLease: ObjectRef
  /** The address that each Service had, and which finalizers of the predecessor. */
  services: Record<Key, { address: string | undefined; finalizers: string[] }>
  /** What of routes was seen. */
  routes?: Routes
  /** Absent where MetalLB was not configured by objects. */
  metallb?: { namespace: string; objects: FoundObject[] }
}

/** The kinds of MetalLB's objects that predecessors write. */
export const metallbKinds = [bgpAdvertisements, ipAddressPools, bgpPeers]

/** The predecessor with this id. */
export function predecessorNamed(id: Predecessor['id']): Predecessor {
  const predecessor = predecessors.find((one) => one.id === id)
  if (!predecessor) throw new Error(`no predecessor has the id ${id}; use the eip-admission that wrote it`)
  return predecessor
}

/** By what MetalLB's objects of a predecessor are known. */
export function marksOf({ metallb }: Predecessor, namespace: string): Marks {
  return { namespace, label: metallb.label, advertisement: metallb.advertisement, passwordSecret: names.bgpSecret }
}

/** Reads what a later `undo` needs to know of the predecessor, before anything of it is changed. */
export async function readFound(client: KubeClient, plan: TakeoverPlan): Promise<Found> {
  const { id, workloads, lease } = plan.predecessor
  const [routes, ...lists] = await Promise.all([
    readRoutes(client),
    ...metallbKinds.map((kind) => listAllKnown(client, kind, {})),
  ])
  const metallb = foundObjects(lists.flat(), predecessorNamed(id))
  const services = plan.services.filter(({ held }) => held !== 'ignored')
  return {
    predecessor: id,
    workloads,
    lease,
    ourLease: { namespace: plan.target.leaseNamespace, name: plan.target.leaseName },
    services: Object.fromEntries(
      services.map(({ namespace, name, before, finalizers }) => [
        `${namespace}/${name}`,
        { address: before, finalizers },
      ]),
    ),
    routes,
    ...(metallb && { metallb }),
  }
}

/** What a predecessor wrote for MetalLB. Its objects are in one namespace: MetalLB reads no other. */
export function foundObjects(objects: readonly KubeObject[], predecessor: Predecessor): Found['metallb'] {
  const theirs = objects.filter((one) => isOurs(marksOf(predecessor, one.metadata.namespace ?? ''), one))
  // What we wrote already in an earlier takeover says nothing about the predecessor's way to write.
  const unchanged = theirs.filter((one) => !isWritten(one))
  const [first] = unchanged
  if (!first) return undefined
  const namespace = first.metadata.namespace ?? ''
  return {
    namespace,
    objects: unchanged.filter(({ metadata }) => metadata.namespace === namespace).map(strippedOf),
  }
}

function strippedOf(object: KubeObject & { spec?: object }): FoundObject {
  const { name, labels = {}, annotations = {} } = object.metadata
  // The API server shows a whole object that another program applied in an annotation, its password included.
  const { 'kubectl.kubernetes.io/last-applied-configuration': _applied, ...kept } = annotations
  const spec = isPeer(object) ? withoutSecrets(object) : { ...object.spec }
  return { kind: object.kind, name, labels, annotations: kept, spec }
}

function withoutSecrets({ spec }: BGPPeer): Record<string, unknown> {
  const { password: _password, nodeSelectors = [], ...others } = spec
  return { ...others, nodeSelectors: nodeSelectors.filter((one) => !isCounting(one)) }
}
