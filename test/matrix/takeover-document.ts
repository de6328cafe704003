// MetalLB's ConfigMap as a predecessor writes it.
import { parse, stringify } from 'yaml'
import type { KubeClient } from '../../kube/client.ts'
import { configMaps } from '../../kube/resource.ts'
import { predecessors } from '../../inspect/predecessors.ts'
import { dialect } from './dialect.ts'
import type { Shape } from './takeover-shapes.ts'

type Cluster = {
  /** The addresses of Services, by name. */
  addresses: ReadonlyMap<string, string>
  /** The nodes, with the addresses from which they speak BGP. */
  machines: readonly { name: string; address: string }[]
}

/** The predecessor's entries in MetalLB's ConfigMap, beside a person's pool. */
export function documentOf({ announcer }: Shape, { addresses, machines }: Cluster): string {
  const byHand = { name: 'by-hand', protocol: 'layer2', addresses: ['10.0.0.0/24'] }
  if (announcer !== 'metallb') return stringify({ peers: [], 'address-pools': [byHand] })

  const { bgp } = dialect
  const counting = predecessors.find((one) => one.dialect === dialect.name)?.metallb.counting
  const counts = [...addresses.keys()].map((name) => ({
    'match-labels': { [`${counting}/service-name`]: name, [`${counting}/service-namespace`]: 'default' },
  }))
  const peers = machines.flatMap(({ name, address }) =>
    bgp.provider.routers.map((router) => ({
      'my-asn': bgp.provider.machines.asn,
      'peer-asn': bgp.provider.asn,
      'peer-address': router,
      'source-address': address,
      ...(bgp.password && { password: bgp.password.value }),
      'node-selectors': [{ 'match-labels': { 'kubernetes.io/hostname': name } }, ...counts],
    })),
  )
  const pools = [...addresses].map(([name, address]) => ({
    name: `default/${name}`,
    protocol: 'bgp',
    addresses: [`${address}/32`],
    'auto-assign': false,
  }))
  // The predecessors write no aliases.
  return stringify({ peers, 'address-pools': [byHand, ...pools] }, { aliasDuplicateObjects: false })
}

export type Document = {
  peers: { 'peer-address': string; 'node-selectors': { 'match-labels': Record<string, string> }[] }[]
  'address-pools': { name: string; addresses: string[] }[]
}

/** Reads the document of the cluster. */
export async function readDocument(client: KubeClient): Promise<Document> {
  const map = await client.get(configMaps, { namespace: 'metallb-system', name: 'config' })
  return parse(map?.data?.['config'] ?? '') as Document
}

/** The sessions and pools of a document, in a comparable form. */
export function meaningOf({ peers, 'address-pools': pools }: Document) {
  const hostOf = (peer: Document['peers'][number]) =>
    peer['node-selectors'].flatMap((one) => one['match-labels']['kubernetes.io/hostname'] ?? [])
  return {
    peers: peers.map((peer) => `${hostOf(peer).join()} ${peer['peer-address']}`).toSorted(),
    pools: pools.map(({ name, addresses: all }) => `${name} ${all.join()}`).toSorted(),
  }
}
