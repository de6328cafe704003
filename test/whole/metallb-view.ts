// The configuration that MetalLB reads, in custom resources or a ConfigMap, and administrators' changes to it.
import { parse, stringify } from 'yaml'
import {
  type BGPPeer,
  type IPAddressPool,
  bgpAdvertisements,
  bgpPeers,
  ipAddressPools,
} from '../../announcers/metallb/resources.ts'
import type { ConfigMap, KubeObject } from '../../kube/objects.ts'
import { type Resource, configMaps } from '../../kube/resource.ts'
import { type MetallbVersion, metallbDefinitions } from '../../sandbox/metallb/build.ts'
import { isSince } from '../../sandbox/rig/metallb-args.ts'
import { crdManifest } from '../../sandbox/rig/metallb-definitions.ts'
import type { TestStage } from './test-stage.ts'

export type MetallbView = {
  /** Whether it reads custom resources; otherwise a single document. */
  hasObjects: boolean
  /** Installs the kinds that MetalLB reads: its CRDs, or an empty ConfigMap. */
  install(): Promise<void>
  /** The addresses of all pools, including others' pools, in order. */
  pools(): Promise<string[]>
  /** The configured sessions, as `sessionText` writes them, in order. */
  sessions(): Promise<string[]>
  /** The objects that it reads with their resource versions, which change with each write. */
  versions(): Promise<string[]>
  /** The objects or lists that are not empty: none, if nothing is announced. */
  left(): Promise<string[]>
  /** Adds an administrator's pool. */
  addPool(name: string, range: string): Promise<void>
  removePool(name: string): Promise<void>
}

export type Session = { node: string; source: string; asn: number; router: string; routerAsn: number }

/** A session as a line of text. */
export function sessionText({ node, source, asn, router, routerAsn }: Session): string {
  return `${node}: ${source} as ${asn} with ${router} as ${routerAsn}`
}

type StageParts = Pick<TestStage, 'client' | 'kubectl' | 'run' | 'send'>

const namespace = 'metallb-system'

/** The configuration as this version of MetalLB reads it. */
export function metallbView(stage: StageParts, version: MetallbVersion): MetallbView {
  return isSince(version, '0.13') ? objectsView(stage, version) : documentView(stage)
}

/** The manifest of a pool as an operator writes it. */
export function poolManifest(name: string, range: string): object {
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'IPAddressPool',
    metadata: { name, namespace },
    spec: { addresses: [range], autoAssign: false },
  }
}

function objectsView({ client, kubectl, run, send }: StageParts, version: MetallbVersion): MetallbView {
  const list = async <T extends KubeObject>(resource: Resource<T>) => (await client.list(resource, { namespace })).items
  const all = async () => (await Promise.all([list(ipAddressPools), list(bgpPeers), list(bgpAdvertisements)])).flat()
  return {
    hasObjects: true,
    async install() {
      const manifest = crdManifest(await metallbDefinitions(version))
      const { code, stderr } = await kubectl(['apply', '--server-side', '-f', '-'], manifest)
      if (code !== 0) throw new Error(stderr)
    },
    pools: async () => (await list<IPAddressPool>(ipAddressPools)).flatMap(({ spec }) => spec.addresses).toSorted(),
    sessions: async () => (await list<BGPPeer>(bgpPeers)).flatMap(({ spec }) => sessionsOfObject(spec)).toSorted(),
    versions: async () =>
      (await all()).map(
        ({ metadata, ...content }) => `${metadata.name} ${metadata.resourceVersion} ${JSON.stringify(content)}`,
      ),
    left: async () => (await all()).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    addPool: async (name, range) => void (await send(['create'], poolManifest(name, range))),
    removePool: async (name) => void (await run('delete', 'ipaddresspool', name, '-n', namespace)),
  }
}

function sessionsOfObject(spec: BGPPeer['spec']): string[] {
  const { myASN: asn, peerASN: routerAsn = 0, peerAddress: router = '', sourceAddress } = spec
  const source = sourceAddress ?? ''
  const nodes = (spec.nodeSelectors ?? []).map(({ matchLabels }) => matchLabels?.['kubernetes.io/hostname'] ?? '')
  return nodes.map((node) => sessionText({ node, source, asn, router, routerAsn }))
}

type Pool = { name: string; protocol: string; addresses: string[] }
type Peer = {
  'my-asn': number
  'peer-asn': number
  'peer-address': string
  'source-address': string
  'node-selectors': { 'match-labels': Record<string, string> }[]
}
type Document = { 'address-pools'?: Pool[]; peers?: Peer[] }

function documentView({ client, run }: StageParts): MetallbView {
  const at = { namespace, name: 'config' }
  const read = async () => {
    const there = await client.get<ConfigMap>(configMaps, at)
    const document = (parse(there?.data?.['config'] ?? '') ?? {}) as Document
    return { document, version: there?.metadata.resourceVersion }
  }
  const edit = async (change: (pools: Pool[]) => Pool[]) => {
    const { document } = await read()
    const config = stringify({ ...document, 'address-pools': change(document['address-pools'] ?? []) })
    await client.patch(configMaps, { ...at, patch: { merge: { data: { config } } } })
  }
  return {
    hasObjects: false,
    install: async () => void (await run('create', 'configmap', at.name, '-n', namespace, '--from-literal=config=')),
    async pools() {
      const { document } = await read()
      return (document['address-pools'] ?? []).flatMap(({ addresses }) => addresses).toSorted()
    },
    sessions: async () => ((await read()).document.peers ?? []).map(sessionOfItem).toSorted(),
    versions: async () => {
      const { version, document } = await read()
      return [`${at.name} ${version} ${JSON.stringify(document)}`]
    },
    async left() {
      const lists = Object.entries((await read()).document)
      return lists.flatMap(([key, list]) => (list.length === 0 ? [] : [key]))
    },
    addPool: (name, range) => edit((pools) => [...pools, { name, protocol: 'layer2', addresses: [range] }]),
    removePool: (name) => edit((pools) => pools.filter((pool) => pool.name !== name)),
  }
}

/** The text of a peer, without the selectors that count Services and match no node. */
function sessionOfItem(item: Peer): string {
  const labels = item['node-selectors'].map((selector) => selector['match-labels'])
  return sessionText({
    node: labels.flatMap((one) => one['kubernetes.io/hostname'] ?? []).join(),
    source: item['source-address'],
    asn: item['my-asn'],
    router: item['peer-address'],
    routerAsn: item['peer-asn'],
  })
}
