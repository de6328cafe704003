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

/** Whose doing an object is, for the one who is told when it is refused. */
export type Concern = { service: Key } | { node: string }

/** An object that has to be there, as far as we say what is in it, and whom it concerns. */
export type Wanted = { object: KubeObject; concerns: Concern[] }

/** Something of the state that the announcing software would refuse, and that was therefore left out. */
export type Problem = { concern: Concern; message: string }

/** Objects of the cluster that tell the announcing software what to do. */
export type ObjectConfiguration = {
  kind: 'objects'
  namespace: string
  /**
   * The kinds of our objects, in the order in which they are written; they are removed in the opposite one. Of a kind
   * with `only` we may touch nothing but the object of that name.
   */
  kinds: { resource: Resource<KubeObject>; only?: string }[]
  /** Whether an object that is there is ours to remove, or one that a predecessor left us. */
  isOurs(object: KubeObject): boolean
  /** All that has to be there, in canonical order. `there` is every object of these kinds, other people's included. */
  objects(state: Announcements, there: KubeObject[]): { wanted: Wanted[]; problems: Problem[] }
  /** Kinds in which the software says how it likes its configuration; we only read them. */
  reports: Resource<KubeObject>[]
  verdict(reports: KubeObject[], state: Announcements): Problem[]
  /** Whether an object that is there has an address announced. */
  announces(object: KubeObject, address: string): boolean
}

/**
 * A document that a person may have written in too: it is edited in place, and nothing of a person's is lost. Passwords
 * are in it as plain text: no part of it may reach a log or an Event.
 */
export type DocumentConfiguration = {
  kind: 'document'
  at: { namespace: string; name: string; key: string }
  /** The document as it should be; the very same text where nothing has to change. Throws where it cannot be read. */
  edit(document: string, state: Announcements): { document: string; problems: Problem[] }
  announces(document: string, address: string): boolean
}

/** How the network learns an address. Pure: a state in, wanted things out; who carries them out is elsewhere. */
export type Announcer = {
  readonly name: string
  request(address: string): AnnouncementRequest
  /**
   * Annotations, null for one that goes, that make the software let go of a Service's address when spec.loadBalancerIP
   * goes with them. It then clears the status itself, or leaves that to us. Absent where nobody but us shows the address.
   */
  withdrawal?: { annotations: Record<string, string | null>; clearsStatus: boolean }
  /** Nothing on a Service that is being deleted makes the software let go: only that the Service is no more. */
  withdrawsOnlyOnDeletion?: true
  configuration?: ObjectConfiguration | DocumentConfiguration
}
