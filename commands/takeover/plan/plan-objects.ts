import type {
  Announced,
  Announcements,
  DocumentConfiguration,
  NodePeers,
  ObjectConfiguration,
  Problem,
} from '../../../announcers/announcer.ts'
import { type ObjectChange, planChanges } from '../../../controllers/announcing/plan-changes.ts'
import type { ConfigMap, KubeObject, Secret } from '../../../kube/objects.ts'
import type { Definition } from '../../../kube/definitions.ts'
import { includes } from '../../../lib/json.ts'
import { announcerOf } from '../../../announcers/announcers.ts'
import type { CloudProvider } from '../../../clouds/ports/cloud-provider.ts'
import {
  type PlanFinding,
  type PlannedObject,
  type PlannedService,
  type TakeoverPlan,
  blocker,
  warning,
} from './plan.ts'
import { shell } from '../../../lib/remedy.ts'

type ObjectFacts = {
  vendor: Pick<CloudProvider, 'loadBalancer' | 'announcerMarks'>
  services: readonly PlannedService[]
  peers: NodePeers[]
  metallb: readonly KubeObject[]
  bgpSecret: Secret | undefined
  document: ConfigMap | undefined
  definitions: readonly Definition[]
}

/** Plans each object of the announcing software as the announcing controller would. Pure. */
export function planObjects(seen: ObjectFacts): { announcer: TakeoverPlan['announcer']; findings: PlanFinding[] } {
  const { name, configuration: either } = announcerOf(seen.vendor.loadBalancer, seen.vendor.announcerMarks)
  const state: Announcements = { addresses: announcedIn(seen.services), nodes: seen.peers }
  const configuration = chosen(either, seen)
  const outcome = !configuration
    ? { objects: [] }
    : configuration.kind === 'objects'
      ? objectsOf(configuration, state, seen)
      : documentOf(configuration, state, seen.document)
  const { objects, waves = 0, problems = [], blockers = [] }: PlannedConfiguration = outcome
  return {
    announcer: { name, objects, waves },
    findings: [...blockers, ...problems.map((one) => warningOf(name, one))],
  }
}

type PlannedConfiguration = { objects: PlannedObject[]; waves?: number; problems?: Problem[]; blockers?: PlanFinding[] }

/** The addresses that the network knows after the takeover. */
function announcedIn(services: readonly PlannedService[]): Announced[] {
  const holding = services.filter(({ held, after }) => ['reserved', 'record', 'own'].includes(held) && after)
  const groups = Map.groupBy(holding, ({ after }) => after ?? '')
  return [...groups].map(([address, group]) => ({
    address,
    services: group.map(({ namespace, name }) => `${namespace}/${name}`),
  }))
}

/** The choice that `serve` would make: custom resources if the cluster has their CRDs, else the ConfigMap. */
function chosen(
  configuration: ReturnType<typeof announcerOf>['configuration'],
  { definitions }: ObjectFacts,
): ObjectConfiguration | DocumentConfiguration | undefined {
  if (configuration?.kind !== 'either') return configuration
  const hasPools = definitions.some(({ metadata }) => metadata.name === 'ipaddresspools.metallb.io')
  return hasPools ? configuration.objects : configuration.document
}

function objectsOf(
  configuration: ObjectConfiguration,
  state: Announcements,
  { metallb, bgpSecret }: ObjectFacts,
): PlannedConfiguration {
  const { kinds, namespace } = configuration
  const known = new Set(kinds.map(({ resource }) => resource.kind))
  const existing = [...metallb, ...(bgpSecret ? [bgpSecret] : [])].filter(
    ({ kind, metadata }) => known.has(kind) && metadata.namespace === namespace,
  )
  const { wanted, problems } = configuration.objects(state, existing)
  const plan = planChanges(configuration, existing, wanted)
  const waves = new Set(plan.waves.flat(2))
  const objects = [...plan.first.flat(), ...waves, ...plan.last].map((change) => ({
    ...describeChange(change),
    interruptsSession: waves.has(change),
  }))
  return { objects: objects.toSorted(byPlace), waves: plan.waves.length, problems }
}

function describe(object: KubeObject, change: PlannedObject['change'], fields: string[] = []): PlannedObject {
  const { kind, metadata } = object
  return { kind, namespace: metadata.namespace ?? '', name: metadata.name, change, fields, interruptsSession: false }
}

/** The change of an object, with the fields that change. */
export function describeChange(change: ObjectChange): PlannedObject {
  if ('remove' in change) return describe(change.remove, 'removed')
  const { object } = change.write
  if (!change.stored) return describe(object, 'added')
  const fields = changedFields(change.stored, object)
  return describe(object, fields.length === 0 ? 'adopted' : 'changed', fields)
}

/** The names of the fields that differ, never their values: a BGPPeer may hold a password. */
function changedFields(stored: KubeObject & { spec?: object }, wanted: KubeObject & { spec?: object }): string[] {
  const before = new Map(Object.entries(stored.spec ?? {}))
  return Object.entries(wanted.spec ?? {})
    .filter(([name, value]) => !includes(before.get(name) ?? null, value))
    .map(([name]) => name)
}

function documentOf(
  configuration: DocumentConfiguration,
  state: Announcements,
  configMap: ConfigMap | undefined,
): PlannedConfiguration {
  const { namespace, name, key } = configuration.at
  const where = `ConfigMap ${namespace}/${name}`
  if (!configMap) {
    const remedy = 'set the load balancer to what MetalLB reads: takeover plan --loadbalancer=metallb:///...'
    const what = 'it does not exist, and MetalLB is to be configured by it'
    const isNeeded = state.addresses.length > 0
    return { objects: [], blockers: isNeeded ? [blocker('announcer-missing', where, { what, remedy })] : [] }
  }
  const before = configMap.data?.[key] ?? ''
  try {
    const { document, problems } = configuration.edit(before, state)
    const isKept = document === before
    return { objects: [describe(configMap, isKept ? 'kept' : 'changed', isKept ? [] : [`data.${key}`])], problems }
  } catch (error) {
    const what = error instanceof Error ? error.message : 'it cannot be read'
    const remedy = shell`kubectl edit configmap -n ${namespace} ${name}`
    return { objects: [], blockers: [blocker('announcer-document', where, { what, remedy })] }
  }
}

function warningOf(announcer: string, { subject, message }: Problem): PlanFinding {
  const where = 'service' in subject ? `Service ${subject.service}` : `node ${subject.node}`
  const remedy = shell`kubectl get events -A | grep ${where.split(' ')[1]}`
  return warning('announcer', where, { what: `${announcer}: ${message}`, remedy })
}

function byPlace(one: PlannedObject, other: PlannedObject): number {
  return `${one.kind} ${one.name}`.localeCompare(`${other.kind} ${other.name}`)
}
