import type { Key, KubeObject, Service } from '../kube/objects.ts'
import type { Resource } from '../kube/resource.ts'

/** What a Service carries so that its address is announced; absent fields are not ours to write. */
export type AnnouncementRequest = {
  annotations: Record<string, string>
  status?: NonNullable<Service['status']>
}

/** One BGP session of a node with a router of its cloud. */
export type Peer = {
  localAsn: number
  peerAsn: number
  peerAddress: string
  sourceAddress: string
  isMultihop: boolean
  password: { reveal(): string } | undefined
}

/** Whom a node speaks with. `hostname` is the value of its label kubernetes.io/hostname. */
export type NodePeers = { node: string; hostname: string; peers: Peer[] }

/** An address, and the Services that show it. */
export type Announced = { address: string; services: Key[] }

/** Everything that the network is to learn. Every state of it is legal: no order, and duplicates are possible. */
export type Announcements = { addresses: Announced[]; nodes: NodePeers[] }

/** Objects of the cluster that tell the announcing software what to do: all of ours, in canonical order. */
export type ObjectConfiguration = {
  kind: 'objects'
  /** Kinds of which objects of ours that are not wanted any more are removed, in this order. */
  resources: Resource<KubeObject>[]
  /** By this label ours are known. */
  label: { name: string; value: string }
  namespace: string
  objects(state: Announcements, there: KubeObject[]): KubeObject[]
}

/** A document that a person may have written in too: it is edited in place, and nothing of a person's is lost. */
export type DocumentConfiguration = {
  kind: 'document'
  at: { namespace: string; name: string; key: string }
  /** The document as it should be; the same text where nothing has to change. Throws where it cannot be read. */
  edit(document: string, state: Announcements): string
}

/** How the network learns an address. Pure: a state in, wanted things out; who carries them out is elsewhere. */
export type Announcer = {
  readonly name: string
  request(address: string): AnnouncementRequest
  configuration?: ObjectConfiguration | DocumentConfiguration
}
