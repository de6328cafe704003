import { softwares } from '../announcers/announcers.ts'
import { kubectlNames } from '../announcers/shared/own-objects.ts'
import { mirrorSlicesSelector } from '../controllers/control-plane/mirror-objects.ts'
import { peeringFieldManager } from '../controllers/peering/node-peering.ts'
import { listAllKnown } from '../kube/list-all.ts'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import { annotationsOf } from '../kube/managed-fields.ts'
import type { KubeObject, Service } from '../kube/objects.ts'
import type { Resource } from '../kube/resource.ts'
import { addressAnnotation, withdrawingAnnotation } from '../ledger/record/names.ts'
import { counted } from '../lib/text.ts'

/** The objects that may contain our writings after a cleanup. */
export type LeftBehind = {
  announcing: KubeObject[]
  /** The kinds of announcing software that could not be read, and why. */
  unread: { kind: Resource<KubeObject>; reason: string }[]
  services: Service[]
  nodes: KubeObject[]
  mirrorSlices: KubeObject[]
}

/** The objects of announcing software in all namespaces; none of a kind that the cluster does not know. */
export async function readAnnouncing(client: KubeClient): Promise<Pick<LeftBehind, 'announcing' | 'unread'>> {
  const unread: LeftBehind['unread'] = []
  const read = async (kind: Resource<KubeObject>) => {
    try {
      return await listAllKnown(client, kind)
    } catch (error) {
      // Calico has its own API server, which may leave its registration behind when it is uninstalled.
      if (!(error instanceof KubeError)) throw error
      unread.push({ kind, reason: error.message })
      return []
    }
  }
  const kinds = softwares.flatMap(({ left }) => left?.kinds ?? [])
  return { announcing: (await Promise.all(kinds.map(read))).flat(), unread }
}

/** The objects that stay after cleanup, what that means, and the commands that remove them. Empty if nothing stays. */
export function whatIsLeft({ announcing, unread, services, nodes, mirrorSlices }: LeftBehind): string {
  const ofServices = services.filter(({ metadata }) => addressAnnotation in (metadata.annotations ?? {}))
  const ofNodes = nodes
    .map(({ metadata }) => annotationsOf(metadata.managedFields ?? [], peeringFieldManager))
    .filter((annotations) => annotations.length > 0)
  const texts = [
    ...softwares.flatMap(({ left }) => left?.texts(announcing.filter((object) => isOfKind(object, left.kinds))) ?? []),
    ...unreadText(unread),
    ...mirrorLeft(mirrorSlices),
    ...(ofServices.length > 0 ? [serviceText(ofServices.length)] : []),
    ...(ofNodes.length > 0 ? [nodeText(ofNodes)] : []),
  ]
  return texts.map((text) => `${text}\n`).join('')
}

function isOfKind(object: KubeObject, kinds: readonly Resource<KubeObject>[]): boolean {
  return kinds.some(({ apiVersion, kind }) => object.apiVersion === apiVersion && object.kind === kind)
}

function unreadText([first, ...others]: LeftBehind['unread']): string[] {
  if (!first) return []
  const names = kubectlNames([first, ...others].map(({ kind }) => kind))
  return [
    `What remains of ${names} is not shown: ${first.reason}. When their API answers, run \`eip-admission cleanup\` again, as an administrator.`,
  ]
}

function mirrorLeft(slices: readonly KubeObject[]): string[] {
  const byNamespace = Map.groupBy(slices, ({ metadata }) => metadata.namespace ?? '')
  return [...byNamespace].map(
    ([namespace, ours]) =>
      `The mirror Service of the control-plane address keeps its last endpoints: ${ours.length} EndpointSlices stay in ` +
      `namespace ${namespace}, and are no longer updated when the API servers change. To remove them, run ` +
      `\`kubectl delete endpointslices -n ${namespace} -l ${mirrorSlicesSelector}\`.`,
  )
}

function serviceText(count: number): string {
  return (
    `The annotation ${addressAnnotation} stays on ${counted(count, 'Services')}: it tells a later eip-admission which ` +
    'addresses users did not choose themselves. If you will not install it again, run ' +
    `\`kubectl annotate services --all --all-namespaces ${addressAnnotation}- ${withdrawingAnnotation}-\`.`
  )
}

function nodeText(annotations: readonly string[][]): string {
  const all = [...new Set(annotations.flat())].toSorted()
  return (
    `Annotations with BGP peers stay on ${counted(annotations.length, 'nodes')}: kube-vip reads them when it starts. If no program ` +
    `needs them, run \`kubectl annotate nodes --all ${all.map((name) => `${name}-`).join(' ')}\`.`
  )
}
