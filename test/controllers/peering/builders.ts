import type { Peer, Peering, ProjectPeering, AnnotationScheme } from '../../../clouds/ports/peering.ts'
import type { PeerFact } from '../../../controllers/facts/fact-text.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { KubeError } from '../../../kube/errors.ts'
import type { KubeObject, Node } from '../../../kube/objects.ts'

export const password = (text: string) => ({ reveal: () => text })

/** The session with the first of two routers; any fact of it can be said otherwise. */
export function makePeer(facts: Partial<Peer> = {}): Peer {
  return {
    localAsn: 65_000,
    peerAsn: 65_530,
    peerAddress: '169.254.255.1',
    sourceAddress: '10.66.1.3',
    isMultihop: true,
    password: undefined,
    ...facts,
  }
}

export const twoPeers = [makePeer(), makePeer({ peerAddress: '169.254.255.2' })]

/** The facts about worker-1, which runs on m-1. */
export function makeFact(facts: Partial<PeerFact> = {}): PeerFact {
  return {
    node: 'worker-1',
    hostname: 'worker-1',
    machine: 'm-1',
    peers: twoPeers,
    privateNetwork: '10.66.1.0/25',
    ...facts,
  }
}

export const scheme: AnnotationScheme = {
  names: {
    localAsn: 'metal.equinix.com/bgp-peers-{{n}}-node-asn',
    peerAsn: 'metal.equinix.com/bgp-peers-{{n}}-peer-asn',
    peerAddress: 'metal.equinix.com/bgp-peers-{{n}}-peer-ip',
    sourceAddress: 'metal.equinix.com/bgp-peers-{{n}}-src-ip',
    password: 'metal.equinix.com/bgp-peers-{{n}}-bgp-pass',
    privateNetwork: 'metal.equinix.com/network-4-private',
  },
  showsPasswords: false,
  outdated: [],
}

/** All that worker-1 is annotated with by this scheme. */
export const annotated = {
  'metal.equinix.com/bgp-peers-0-node-asn': '65000',
  'metal.equinix.com/bgp-peers-1-node-asn': '65000',
  'metal.equinix.com/bgp-peers-0-peer-asn': '65530',
  'metal.equinix.com/bgp-peers-1-peer-asn': '65530',
  'metal.equinix.com/bgp-peers-0-peer-ip': '169.254.255.1',
  'metal.equinix.com/bgp-peers-1-peer-ip': '169.254.255.2',
  'metal.equinix.com/bgp-peers-0-src-ip': '10.66.1.3',
  'metal.equinix.com/bgp-peers-1-src-ip': '10.66.1.3',
  'metal.equinix.com/network-4-private': '10.66.1.0/25',
}

/** A cloud whose routers speak with every machine that BGP is on for, and a list of what it was asked. */
export function fakePeering(project?: ProjectPeering) {
  const cloud = {
    project,
    on: new Set<string>(),
    /** The routers' answer for every machine. */
    peers: twoPeers,
    asked: [] as string[],
    /** The error of every call, where it is set. */
    trouble: undefined as Error | undefined,
  }
  const answer = async <T>(call: string, value: () => T): Promise<T> => {
    cloud.asked.push(call)
    if (cloud.trouble) throw cloud.trouble
    return value()
  }
  const peering: Peering = {
    project: () => answer('project', () => cloud.project),
    enable: (wanted) => answer('enable', () => void (cloud.project = wanted)),
    machines: () => answer('machines', () => new Set(cloud.on)),
    sessions: () =>
      answer('sessions', () => new Map([...cloud.on].map((id) => [id, { up: 2, down: 0, seenAt: undefined }]))),
    enableOn: (machine) => answer(`enable ${machine}`, () => void cloud.on.add(machine)),
    peers: (machine) => answer(`peers ${machine}`, () => (cloud.on.has(machine) ? cloud.peers : [])),
  }
  return { cloud, peering }
}

/** Nodes, and of server-side apply what annotations need of it: who applied which, and that nothing is made again. */
export function fakeNodes() {
  const nodes = new Map<string, Node>()
  const applied = new Map<string, string[]>()
  const writes: string[] = []
  const hooks = { afterApply: () => {} }
  const annotate = (name: string, change: Record<string, string | null | undefined>): Node => {
    const node = nodes.get(name)
    if (!node) throw new KubeError(`node ${name} is not there`, { status: 409, reason: 'Conflict' })
    const all = Object.entries({ ...node.metadata.annotations, ...change }).filter(([, value]) => value != null)
    const annotations = Object.fromEntries(all) as Record<string, string>
    const changed = { ...node, metadata: { ...node.metadata, annotations } }
    nodes.set(name, changed)
    return changed
  }
  const client: Pick<KubeClient, 'apply' | 'patch'> = {
    async apply<T extends KubeObject>(_resource: unknown, { metadata }: KubeObject) {
      const { name, uid, annotations = {} } = metadata
      if (nodes.get(name)?.metadata.uid !== uid) throw new KubeError('another', { status: 409, reason: 'Conflict' })
      const given = Object.fromEntries((applied.get(name) ?? []).map((one) => [one, undefined]))
      applied.set(name, Object.keys(annotations))
      writes.push(`apply ${name}`)
      const written = annotate(name, { ...given, ...annotations }) as KubeObject as T
      hooks.afterApply()
      return written
    },
    async patch<T extends KubeObject>(_resource: unknown, { name, patch }: Parameters<KubeClient['patch']>[1]) {
      const { merge } = patch as { merge: { metadata: { uid?: string; annotations: Record<string, null> } } }
      const { uid, annotations } = merge.metadata
      if (uid !== undefined && nodes.get(name)?.metadata.uid !== uid)
        throw new KubeError('another', { status: 409, reason: 'Conflict' })
      writes.push(`patch ${name}`)
      return annotate(name, annotations) as KubeObject as T
    },
  }
  return {
    client,
    hooks,
    writes,
    get: (name: string) => nodes.get(name),
    put: (node: Node) => void nodes.set(node.metadata.name, node),
    remove: (name: string) => void nodes.delete(name),
    /** Writes of somebody else. */
    annotate,
    annotationsOf: (name: string) => nodes.get(name)?.metadata.annotations ?? {},
  }
}
