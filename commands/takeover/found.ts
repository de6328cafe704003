import type { Marks } from '../../announcers/metallb/ownership.ts'
import { type FoundObject, foundObjects } from '../../announcers/metallb/predecessor/objects.ts'
import { metallbKinds } from '../../announcers/metallb/resources.ts'
import type { AnnouncerMarks } from '../../announcers/software.ts'
import { ifKnown, listAll, listAllKnown } from '../../kube/list-all.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Key, KubeObject } from '../../kube/objects.ts'
import { defined } from '../../lib/json.ts'
import { names } from '../../settings/installed-names.ts'
import type { ObjectRef, PlannedLease, PlannedService, PredecessorWorkload, TakeoverPlan } from './plan/plan.ts'
import { announcementStates } from '../../inspect/kinds.ts'
import { type Predecessor, finalizersOf, predecessors } from '../../inspect/predecessors.ts'

/** The state that `undo` restores. It contains no secret, because a ConfigMap stores it. */
export type FoundBefore = {
  predecessor: Predecessor['id']
  workloads: PredecessorWorkload[]
  /** Its lease. */
  lease: PlannedLease
  /** The lease with which our program leads. */
  ourLease: ObjectRef
  /** Each Service's address, and the predecessor's finalizers on it. */
  services: Record<Key, { address: string | undefined; finalizers: string[] }>
  /** Absent if MetalLB does not report it. */
  announcing?: AnnouncingNodes
  /** The ConfigMap that configures MetalLB; absent if objects do. */
  document?: { namespace: string; name: string }
  /** Absent if MetalLB was not configured by objects. */
  metallb?: { namespace: string; objects: FoundObject[] }
  /** The reservations that `undo` leaves behind: a run that continues it can no longer see them. */
  left?: LeftReservation[]
}

/** A reservation that the predecessor will not look after. The project pays for it until a person deletes it. */
export type LeftReservation = { id: string; address: string | undefined; reason: string }

/** The predecessor with this id. */
export function predecessorNamed(id: Predecessor['id']): Predecessor {
  const predecessor = predecessors.find((one) => one.id === id)
  if (!predecessor) throw new Error(`no predecessor has the id ${id}; use the version of eip-admission that wrote it`)
  return predecessor
}

/** The finalizers that a Service gets back: those that it had, or for a new Service those that the predecessor adds. */
export function finalizersFor(found: FoundBefore, key: Key): string[] {
  const ofNew = newFinalizers(found)
  const before = found.services[key]?.finalizers
  return before === undefined ? ofNew : before.filter((one) => ofNew.includes(one))
}

/** The finalizers that the predecessor adds to Services, in the version that ran. */
export function newFinalizers({ predecessor, workloads }: FoundBefore): string[] {
  const version = (workloads.find(({ isRunning }) => isRunning) ?? workloads[0])?.version
  return finalizersOf(predecessorNamed(predecessor), version)
}

/** The marks of a predecessor's MetalLB objects. */
export function marksOf({ metallb }: Predecessor, namespace: string): Marks & AnnouncerMarks {
  return { ...metallb, namespace, passwordSecret: names.bgpSecret }
}

/** The objects that configure MetalLB, of a namespace or of all. */
export async function metallbObjects(client: KubeClient, of: { namespace?: string } = {}): Promise<KubeObject[]> {
  return (await Promise.all(metallbKinds.map((kind) => listAllKnown<KubeObject>(client, kind, of)))).flat()
}

/** The Services of a plan that it takes over. */
export function servedServices({ services }: TakeoverPlan): PlannedService[] {
  return services.filter(({ held }) => held !== 'ignored')
}

/** The number of nodes that announce each Service. The provider's routers cannot be asked. */
export type AnnouncingNodes = Record<Key, number>

/** Reads which nodes announce which Services; undefined if MetalLB does not report it. */
export async function readAnnouncing(client: Pick<KubeClient, 'list'>): Promise<AnnouncingNodes | undefined> {
  const statuses = await ifKnown(undefined, () => listAll(client, announcementStates))
  const announcing = statuses?.filter(({ status }) => (status?.peers?.length ?? 0) > 0)
  if (!announcing) return undefined
  const groups = Map.groupBy(announcing, ({ status }) => `${status?.serviceNamespace}/${status?.serviceName}`)
  return Object.fromEntries(
    [...groups].map(([key, group]) => [key, new Set(group.map(({ status }) => status?.node)).size]),
  )
}

/** Reads the state that a later `undo` will restore, before anything changes. */
export async function readFound(client: KubeClient, plan: TakeoverPlan): Promise<FoundBefore> {
  const { id, workloads, lease } = plan.predecessor
  const [announcing, objects] = await Promise.all([readAnnouncing(client), metallbObjects(client)])
  const metallb = foundObjects(objects, predecessorNamed(id).metallb)
  const document = plan.announcer.objects.find(({ kind }) => kind === 'ConfigMap')
  return {
    predecessor: id,
    workloads,
    lease,
    ourLease: { namespace: plan.target.leaseNamespace, name: plan.target.leaseName },
    services: Object.fromEntries(
      servedServices(plan).map(({ namespace, name, before, finalizers }) => [
        `${namespace}/${name}`,
        { address: before, finalizers },
      ]),
    ),
    ...defined({ announcing, document: document && { namespace: document.namespace, name: document.name }, metallb }),
  }
}
