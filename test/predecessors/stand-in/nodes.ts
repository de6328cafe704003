// The node controllers of a predecessor: initialize, annotate, and delete what the cloud no longer has.
import type { KubeClient } from '../../../kube/client.ts'
import type { Node } from '../../../kube/objects.ts'
import { nodes } from '../../../kube/resource.ts'
import type { Predecessor } from '../../announcers/predecessors.ts'
import type { Machine, PredecessorCloud, Session } from './cloud.ts'

const uninitialized = 'node.cloudprovider.kubernetes.io/uninitialized'

/** Gives a new node its provider ID, labels and addresses, and removes the taint. */
export async function initialize(client: KubeClient, cloud: PredecessorCloud, node: Node): Promise<void> {
  const { name } = node.metadata
  const taints = node.spec.taints ?? []
  if (!taints.some(({ key }) => key === uninitialized)) return
  const machine = await cloud.machineNamed(name)
  if (!machine) throw new Error(`the provider has no machine ${name}`)
  const spec = { providerID: machine.providerID, taints: taints.filter(({ key }) => key !== uninitialized) }
  const status = { addresses: machine.addresses }
  await client.patch(nodes, { name, patch: { merge: { status } } }, { subresource: 'status' })
  await client.patch(nodes, { name, patch: { merge: { metadata: { labels: labelsOf(machine) }, spec } } })
}

function labelsOf({ type, region, zone }: Machine): Record<string, string> {
  return {
    'node.kubernetes.io/instance-type': type,
    'beta.kubernetes.io/instance-type': type,
    'topology.kubernetes.io/region': region,
    'failure-domain.beta.kubernetes.io/region': region,
    ...(zone !== undefined && {
      'topology.kubernetes.io/zone': zone,
      'failure-domain.beta.kubernetes.io/zone': zone,
    }),
  }
}

/** Deletes a node that is not ready and whose machine is gone. */
export async function removeIfGone(client: KubeClient, cloud: PredecessorCloud, node: Node): Promise<void> {
  const { providerID } = node.spec
  if (providerID === undefined || isReady(node)) return
  if ((await cloud.machineOf(providerID)) === undefined) await client.remove(nodes, { name: node.metadata.name })
}

export function isReady({ status }: Node): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true
}

export type Annotated = { predecessor: Predecessor; cloud: PredecessorCloud; client: KubeClient }

/** Writes the session of a node into its annotations; Equinix Metal's program does so once. */
export async function annotate({ predecessor, cloud, client }: Annotated, node: Node, session: Session): Promise<void> {
  const { name, annotations = {} } = node.metadata
  const isCherry = predecessor.startsWith('Cherry')
  const network = 'metal.equinix.com/network-4-private'
  if (!isCherry && annotations[network] !== undefined) return
  const added = isCherry ? {} : { [network]: (await cloud.machineOf(node.spec.providerID ?? ''))?.privateNetwork }
  const wanted = { ...added, ...peerAnnotations(predecessor, session) }
  await client.patch(nodes, { name, patch: { merge: { metadata: { annotations: wanted } } } })
}

function peerAnnotations(predecessor: Predecessor, session: Session): Record<string, string> {
  const { localAsn, peerAsn, peers, sourceAddress, password = '' } = session
  const isCherry = predecessor.startsWith('Cherry')
  const prefix = isCherry ? 'cherryservers.com' : 'metal.equinix.com'
  const said = peers.flatMap((peer, n) => {
    const of = (datum: string, value: string) => [`${prefix}/bgp-peers-${n}-${datum}`, value] as const
    return [
      of('node-asn', String(localAsn)),
      of('peer-asn', String(peerAsn)),
      of('peer-ip', peer),
      ...(predecessor === 'Cherry 1.35.2' ? [] : [of('src-ip', sourceAddress)]),
      ...(isCherry ? [] : [of('bgp-pass', Buffer.from(password).toString('base64'))]),
    ]
  })
  return Object.fromEntries(said)
}
