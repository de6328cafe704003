// How CPEM keeps MetalLB's ConfigMap: it reads the document, changes it for one Service, and patches the whole of it.
import { parse, stringify } from 'yaml'
import type { ConfigMap } from '../../../kube/objects.ts'
import { configMaps } from '../../../kube/resource.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Counted, PeerObject } from '../../announcers/predecessors.ts'
import type { PredecessorMetallb } from './metallb.ts'

type Selector = { 'match-labels'?: Record<string, string>; 'match-expressions'?: unknown }
type Peer = Record<string, unknown> & { 'node-selectors': Selector[] }
type Pool = { name: string; addresses: string[] } & Record<string, unknown>
type Document = { peers: Peer[]; 'address-pools': Pool[] }

const domain = 'nomatch.metal.equinix.com'
const at = { namespace: 'metallb-system', name: 'config' }

/** MetalLB's document as CPEM keeps it. */
export function predecessorDocument(client: KubeClient): PredecessorMetallb {
  const change = async (edit: (document: Document) => Document) => {
    const map = await client.get<ConfigMap>(configMaps, at)
    if (!map) throw new Error('unable to get metallb configmap')
    const { peers = [], 'address-pools': pools = [] } = (parse(map.data?.['config'] ?? '') ?? {}) as Partial<Document>
    const next = edit({ peers: peers.map(asTyped), 'address-pools': pools })
    await client.patch(configMaps, { ...at, patch: { merge: { data: { config: stringify(next) } } } })
  }
  return {
    addPool: ({ namespace, name }, address) =>
      change((document) => {
        const pool = {
          name: `${namespace}/${name}`,
          protocol: 'bgp',
          addresses: [`${address}/32`],
          'auto-assign': false,
        }
        const others = document['address-pools'].filter((one) => one.name !== pool.name)
        const isThere = others.length < document['address-pools'].length
        return isThere ? document : { ...document, 'address-pools': [...others, pool] }
      }),
    removePool: ({ namespace, name }) =>
      change((document) => ({
        ...document,
        'address-pools': document['address-pools'].filter((one) => one.name !== `${namespace}/${name}`),
      })),
    updatePeers: (wanted, service) =>
      change((document) => {
        const written = wanted.map(inDocument)
        const kept = document.peers.map((peer) => (written.some(isSamePeer(peer)) ? counting(peer, service) : peer))
        const added = written.filter((peer) => !document.peers.some(isSamePeer(peer)))
        return { ...document, peers: [...kept, ...added.map((peer) => counting(peer, service))] }
      }),
    removeCounts: (service) =>
      change((document) => ({
        ...document,
        peers: document.peers.flatMap((peer) => {
          const left = peer['node-selectors'].filter((one) => !isCountOf(one, service))
          const isCounted = left.length < peer['node-selectors'].length
          return isCounted && !left.some(isCount) ? [] : [{ ...peer, 'node-selectors': left }]
        }),
      })),
  }
}

/** A peer as Go writes it, with every field. */
function asTyped(peer: Peer): Peer {
  const selectors = peer['node-selectors'].map((one) => ({ 'match-expressions': null, ...one }))
  return { 'hold-time': '', 'peer-port': 0, 'router-id': '', ...peer, 'node-selectors': selectors }
}

function inDocument({ spec }: PeerObject): Peer {
  const [node] = spec.nodeSelectors
  return asTyped({
    'my-asn': spec.myASN,
    'peer-asn': spec.peerASN,
    'peer-address': spec.peerAddress,
    'source-address': spec.sourceAddress,
    ...(spec.password !== undefined && { password: spec.password }),
    'node-selectors': [{ 'match-labels': node?.matchLabels ?? {} }],
  })
}

/** The fields that decide whether two peers are one: AS numbers, router, and whom they select beside the counts. */
function isSamePeer(one: Peer): (other: Peer) => boolean {
  const text = (peer: Peer) => {
    const selected = peer['node-selectors'].filter((selector) => !isCount(selector))
    return JSON.stringify([
      peer['my-asn'],
      peer['peer-asn'],
      peer['peer-address'],
      selected.map((all) => all['match-labels']),
    ])
  }
  return (other) => text(one) === text(other)
}

/** With a new Service the counts are sorted; with one that it counts already, nothing changes. */
function counting(peer: Peer, service: Counted): Peer {
  const all = peer['node-selectors']
  if (all.some((one) => isCountOf(one, service))) return peer
  const counts = [...all.filter(isCount), countOf(service)].toSorted((one, other) =>
    nameIn(one) < nameIn(other) ? -1 : 1,
  )
  return { ...peer, 'node-selectors': [...all.filter((one) => !isCount(one)), ...counts] }
}

function countOf({ namespace, name }: Counted): Selector {
  const labels = { [`${domain}/service-name`]: name, [`${domain}/service-namespace`]: namespace }
  return { 'match-expressions': null, 'match-labels': labels }
}

function isCount(selector: Selector): boolean {
  return nameIn(selector) !== ''
}

function isCountOf(selector: Selector, { namespace, name }: Counted): boolean {
  return nameIn(selector) === `${namespace}/${name}`
}

/** The Service that a selector counts; an empty text sorts first. */
function nameIn({ 'match-labels': labels = {} }: Selector): string {
  const name = labels[`${domain}/service-name`]
  return name === undefined ? '' : `${labels[`${domain}/service-namespace`]}/${name}`
}
