// The service controller of a predecessor with one Service, step by step as the real one.
import { createHash } from 'node:crypto'
import type { KubeClient } from '../../../kube/client.ts'
import type { Node, Service } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import { type Counted, type PeerObject, type Predecessor, peersOf } from '../../announcers/predecessors.ts'
import type { PredecessorCloud, Session } from './cloud.ts'
import type { PredecessorMetallb } from './metallb.ts'
import { annotate, isReady } from './nodes.ts'

const finalizer = 'service.kubernetes.io/load-balancer-cleanup'

export type ServiceDeps = {
  predecessor: Predecessor
  client: KubeClient
  cloud: PredecessorCloud
  metallb: PredecessorMetallb
  cluster: string
  /** Where it writes the address; without it into `spec.loadBalancerIP`. */
  requestAnnotation: string | undefined
  nodes: () => Node[]
}

/** The nodes that serve load balancers. */
export function serving(all: Node[]): Node[] {
  const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers'
  return all.filter(
    (node) => isReady(node) && node.spec.providerID !== undefined && node.metadata.labels?.[excluded] === undefined,
  )
}

/** Whether this Service has work for the controller: it wants an address, or has to give one back. */
export function concerns({ metadata, spec }: Service): boolean {
  const wants = spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined
  return wants || metadata.finalizers?.includes(finalizer) === true
}

/** Brings one Service, as it is now, to where it should be. */
export async function syncService(deps: ServiceDeps, key: { namespace: string; name: string }): Promise<void> {
  const service = await deps.client.get(services, key)
  if (!service || !concerns(service)) return
  const { metadata, spec } = service
  const isOver = metadata.deletionTimestamp !== undefined || spec.type !== 'LoadBalancer'
  if (!isOver) return ensure(deps, service)
  if (metadata.finalizers?.includes(finalizer) !== true) return
  await release(deps, service)
  const finalizers = metadata.finalizers.filter((one) => one !== finalizer)
  await deps.client.patch(services, { ...key, patch: { merge: { metadata: { finalizers } } } })
}

async function ensure(deps: ServiceDeps, service: Service): Promise<void> {
  const { client, cloud, metallb } = deps
  const key = keyOf(service)
  const { finalizers = [] } = service.metadata
  if (!finalizers.includes(finalizer)) {
    const merge = { metadata: { finalizers: [...finalizers, finalizer] } }
    await client.patch(services, { ...key, patch: { merge } })
  }
  const tags = tagsOf(deps, key)
  let address = requestedBy(service, deps)
  if (address === '') {
    const reservation = (await reservationOf(cloud, tags)) ?? (await cloud.reserve(tags))
    ;({ address } = reservation)
    const now = await client.get(services, key)
    if (!now) return
    await client.replace(services, requesting(now, address, deps))
  }
  const peers = await peersNow(deps)
  await metallb.addPool(key, address)
  await metallb.updatePeers(peers, key)
  const reservation = await reservationOf(cloud, tags)
  if (reservation) await show(client, key, reservation.address)
}

/** The address that a Service has already: Cherry Servers' program looks into an annotation first. */
function requestedBy({ metadata, spec }: Service, { requestAnnotation: name }: ServiceDeps): string {
  const annotated = name === undefined ? undefined : metadata.annotations?.[name]
  return annotated || (spec.loadBalancerIP ?? '')
}

function requesting(service: Service, address: string, { requestAnnotation: name }: ServiceDeps): Service {
  const { metadata, spec } = service
  if (name === undefined) return { ...service, spec: { ...spec, loadBalancerIP: address } }
  return { ...service, metadata: { ...metadata, annotations: { ...metadata.annotations, [name]: address } } }
}

/** Writes the status, unless it already shows the address. */
async function show(client: KubeClient, key: Counted, address: string): Promise<void> {
  const ingress = (await client.get(services, key))?.status?.loadBalancer?.ingress ?? []
  if (ingress.length === 1 && ingress[0]?.ip === address) return
  const status = { loadBalancer: { ingress: [{ ip: address }] } }
  await client.patch(services, { ...key, patch: { merge: { status } } }, { subresource: 'status' })
}

/** Gives the address back. Without a reservation nothing is done, and pools stay: so do the real ones. */
async function release({ cloud, metallb, ...deps }: ServiceDeps, service: Service): Promise<void> {
  const key = keyOf(service)
  const reservation = await reservationOf(cloud, tagsOf(deps, key))
  if (!reservation) return
  const isCherry = deps.predecessor.startsWith('Cherry')
  if (isCherry) await cloud.remove(reservation.id)
  await metallb.removePool(key)
  await metallb.removeCounts(key)
  if (!isCherry) await cloud.remove(reservation.id)
}

/** Writes the peers of all nodes for a Service that has its address, when nodes come and go. */
export async function updateNodes(deps: ServiceDeps, service: Service): Promise<void> {
  await deps.metallb.updatePeers(await peersNow(deps), keyOf(service))
}

async function peersNow({ predecessor, client, cloud, nodes }: ServiceDeps): Promise<PeerObject[]> {
  const peers: PeerObject[] = []
  for (const node of serving(nodes())) {
    const session = await cloud.session(node.spec.providerID ?? '')
    await annotate({ predecessor, client, cloud }, node, session)
    peers.push(...peersOf(predecessor, factsOf(node, session)))
  }
  return peers
}

function factsOf(node: Node, { localAsn, peerAsn, peers, sourceAddress, password }: Session) {
  const { name, labels } = node.metadata
  const region = labels?.['topology.kubernetes.io/region']
  return {
    nodes: [{ name, address: sourceAddress }],
    routers: peers,
    localAsn,
    peerAsn,
    ...(password !== undefined && { password }),
    ...(region !== undefined && { region }),
  }
}

async function reservationOf(cloud: PredecessorCloud, tags: string[]) {
  return (await cloud.reservations()).find((one) => tags.every((tag) => one.has(tag)))
}

function tagsOf({ predecessor, cluster }: Pick<ServiceDeps, 'predecessor' | 'cluster'>, { namespace, name }: Counted) {
  const usage = predecessor.startsWith('Cherry') ? 'cloud-provider-cherry-auto' : 'cloud-provider-equinix-metal-auto'
  const service = createHash('sha256').update(`${namespace}/${name}`).digest('base64')
  return [`usage=${usage}`, `service=${service}`, `cluster=${cluster}`]
}

function keyOf({ metadata: { namespace = '', name } }: Service): Counted {
  return { namespace, name }
}
