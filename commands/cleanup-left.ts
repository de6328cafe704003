import { softwares } from '../announcers/announcers.ts'
import { mirrorSlicesSelector } from '../controllers/control-plane/mirror-objects.ts'
import { peeringFieldManager } from '../controllers/peering/node-peering.ts'
import { listAllKnown } from '../controllers/announcing/list-known.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeObject, Service } from '../kube/objects.ts'
import type { Resource } from '../kube/resource.ts'
import { addressAnnotation, withdrawingAnnotation } from '../ledger/record/names.ts'

/** A Node, and who set which of its fields. */
type ManagedNode = KubeObject & {
  metadata: { managedFields?: { manager?: string; fieldsV1?: { 'f:metadata'?: { 'f:annotations'?: object } } }[] }
}

/** Everything in which cleanup looks for what we wrote and it leaves. */
export type LeftBehind = {
  announcing: KubeObject[]
  services: Service[]
  nodes: KubeObject[]
  mirrorSlices: KubeObject[]
}

/** The objects of announcing software in all namespaces; none of a kind that the cluster does not know. */
export async function listAnnouncing(client: KubeClient): Promise<KubeObject[]> {
  const kinds = softwares.flatMap(({ left }) => left?.kinds ?? [])
  return (await Promise.all(kinds.map((kind) => listAllKnown(client, kind, {})))).flat()
}

/** What stays after cleanup, what that means, and the commands that remove it. Empty if nothing stays. */
export function whatIsLeft({ announcing, services, nodes, mirrorSlices }: LeftBehind): string {
  const ofServices = services.filter(({ metadata }) => addressAnnotation in (metadata.annotations ?? {}))
  const ofNodes = nodes.map(annotationsOfNode).filter((annotations) => annotations.length > 0)
  const texts = [
    ...softwares.flatMap(({ left }) => left?.texts(announcing.filter((object) => isOfKind(object, left.kinds))) ?? []),
    ...mirrorLeft(mirrorSlices),
    ...(ofServices.length > 0 ? [serviceText(ofServices.length)] : []),
    ...(ofNodes.length > 0 ? [nodeText(ofNodes)] : []),
  ]
  return texts.map((text) => `${text}\n`).join('')
}

function isOfKind(object: KubeObject, kinds: readonly Resource<KubeObject>[]): boolean {
  return kinds.some(({ apiVersion, kind }) => object.apiVersion === apiVersion && object.kind === kind)
}

function mirrorLeft(slices: readonly KubeObject[]): string[] {
  const byNamespace = Map.groupBy(slices, ({ metadata }) => metadata.namespace ?? '')
  return [...byNamespace].map(
    ([namespace, ours]) =>
      `The mirror Service of the control-plane address keeps its last endpoints: ${ours.length} EndpointSlices stay in ` +
      `namespace ${namespace}, and nothing follows the API servers any more. To remove them, run ` +
      `\`kubectl delete endpointslices -n ${namespace} -l ${mirrorSlicesSelector}\`.`,
  )
}

function serviceText(count: number): string {
  return (
    `The annotation ${addressAnnotation} stays on ${count} Services: by it a later eip-admission knows which addresses ` +
    'are not own ones of users. If none will come, run ' +
    `\`kubectl annotate services --all --all-namespaces ${addressAnnotation}- ${withdrawingAnnotation}-\`.`
  )
}

function nodeText(annotations: readonly string[][]): string {
  const all = [...new Set(annotations.flat())].toSorted()
  return (
    `Annotations with BGP peers stay on ${annotations.length} nodes: kube-vip reads them when it starts. If no program ` +
    `needs them, run \`kubectl annotate nodes --all ${all.map((name) => `${name}-`).join(' ')}\`.`
  )
}

function annotationsOfNode({ metadata: { managedFields = [] } }: ManagedNode): string[] {
  return managedFields
    .filter(({ manager }) => manager === peeringFieldManager)
    .flatMap(({ fieldsV1 }) => Object.keys(fieldsV1?.['f:metadata']?.['f:annotations'] ?? {}))
    .filter((field) => field !== '.')
    .map((field) => field.replace(/^f:/, ''))
}
