import type { Key, KubeObject, Service } from '../kube/objects.ts'
import type { Resource } from '../kube/resource.ts'
import type { Labels } from '../lib/label-selector.ts'

/** The fields of a Service by which its address is announced; absent fields are not ours to write. */
export type AnnouncementRequest = {
  annotations: Record<string, string>
  status?: NonNullable<Service['status']>
}

/** A BGP session of a node with a router of its cloud. */
export type Peer = {
  localAsn: number
  peerAsn: number
  peerAddress: string
  sourceAddress: string
  isMultihop: boolean
  password: { reveal(): string } | undefined
}

/** The BGP peers of a node. `hostname` is the value of its label kubernetes.io/hostname. */
export type NodePeers = {
  node: string
  hostname: string
  peers: Peer[]
  /** Annotations of the node, by which the software says what it does there. */
  annotations?: Readonly<Record<string, string>>
}

export type Announced = { address: string; services: Key[] }

/** The facts beside its address that decide what announcing software does with a Service. */
export type ServiceFacts = { loadBalancerClass?: string; labels?: Labels; annotations?: Record<string, string> }

/** Everything that the network has to learn. The lists may be in any order and contain duplicates. */
export type Announcements = {
  addresses: Announced[]
  nodes: NodePeers[]
  /** The facts of each Service; of one that is missing here none is known. */
  facts?: Pick<ReadonlyMap<Key, ServiceFacts>, 'get'>
  /** Addresses that Services show before the ledger has a record of them: a predecessor's announcements of them stay. */
  undecided?: Announced[]
  /** Addresses that Services show still, while the software withdraws them. */
  leaving?: Announced[]
  /** Whether a Node exists; absent where that is unknown. */
  hasNode?: (name: string) => boolean
  /** Addresses in the status of any Service: software that keeps addresses for others may not be given these. */
  visible?: Announced[]
  /** Services whose status another program wrote. */
  foreign?: { service: Key; loadBalancerClass: string | undefined }[]
}

/** The subject of an object: its Event says why the object was refused. */
export type Subject = { service: Key } | { node: string }

/** An object that must exist, with the fields that we set (null: one that must go), and its subjects. */
export type WantedObject = { object: KubeObject; subjects: Subject[] }

/**
 * A part of the state that the announcing software refuses, or would refuse and was therefore left out. `mayPass`: the
 * software says so also for a moment while it takes up a change, and tries again by itself.
 */
export type Problem = { subject: Subject; message: string; mayPass?: true }

/**
 * The objects that must exist, and what is in the way of others. `isHeld`: without those the software would announce
 * nothing, so what other software announces stays.
 */
export type Configured = { wanted: WantedObject[]; problems: Problem[]; isHeld?: boolean }

/** The BGP sessions that one object configures: the sessions of these nodes, or of unnamed ones, with one router. */
export type ObjectSessions = { nodes: string[] | undefined; router: string; localAsn: number }

/** Configuration by objects of the cluster that the announcing software reads. */
export type ObjectConfiguration = {
  kind: 'objects'
  namespace: string
  /**
   * The kinds of our objects in the order in which they are written; they are removed in the reverse order. In a kind
   * with `only` we may change the object of that name and no other. `isShared`: people edit that object too. `isPruned`:
   * old definitions lack a field that we write, which a create drops and an apply refuses. `isStrict`: a patch with such
   * a field is refused too, because without the field the object is wrong. `isWatched`: without an object of this kind
   * nodes lose routes, or take any, so its deletion is noticed at once; there are few.
   */
  kinds: {
    resource: Resource<KubeObject>
    only?: string
    isShared?: true
    isPruned?: true
    isStrict?: true
    isWatched?: true
  }[]
  /** The software that brings these kinds, for a person whose cluster lacks them. */
  from: string
  /** Whether we may remove an object: we wrote it, or a predecessor left it. */
  isOurs: (object: KubeObject) => boolean
  /** All objects that must exist, in canonical order. `existing` are all objects of these kinds, foreign ones included. */
  objects(state: Announcements, existing: KubeObject[]): Configured
  /** The sessions of an object: they end and begin again with any change of its spec. Undefined where it has none. */
  sessionsOf?: (object: KubeObject) => ObjectSessions | undefined
  /** Whether two objects with these sessions cannot exist, or work, side by side. */
  excludes?: (one: ObjectSessions, other: ObjectSessions) => boolean
  /** The kinds in which the software reports whether it accepts its configuration; we only read them. */
  reports: Resource<KubeObject>[]
  reportedProblems(reports: KubeObject[], state: Announcements): Problem[]
  /** The kind whose objects make the software announce addresses. */
  announcing: Resource<KubeObject>
  /** The name under which we create the object of an address; one that a predecessor left has another. */
  nameFor(address: string): string | undefined
  /** Whether an object of that kind makes the software announce an address. */
  hasAddress(object: KubeObject, address: string): boolean
  /**
   * For how long a machine may go on announcing after its Node was deleted, and the node of each of our objects. Absent
   * where the software withdraws then.
   */
  lingering?: { forMs: number; nodeOf: (object: KubeObject) => string | undefined }
}

/**
 * Configuration by a document that people edit too: we change it in place and keep everything that they wrote. It holds
 * passwords in plain text: no part of it may reach a log or an Event.
 */
export type DocumentConfiguration = {
  kind: 'document'
  at: { namespace: string; name: string; key: string }
  /** The document as it must be; the same text if nothing has to change. Throws if the document cannot be read. */
  edit(document: string, state: Announcements): { document: string; problems: Problem[] }
  /** The document without our pools of addresses that are neither announced nor undecided; all else stays. */
  withdraw(document: string, state: Announcements): string
  /** Whether the document makes the software announce an address. */
  hasAddress(document: string, address: string): boolean
}

/** Configuration of software that reads objects in one version and a document in another: we use what the cluster has. */
export type EitherConfiguration = {
  kind: 'either'
  title: string
  objects: ObjectConfiguration
  document: DocumentConfiguration
}

/** The configuration that we may have written under another load balancer setting. */
export type FormerConfiguration = {
  /** The label selector of objects that we wrote, and the kinds that it finds in any namespace. */
  selector: string
  kinds: Resource<KubeObject>[]
  /** Objects of people in which we may have written something. */
  shared?: { resource: Resource<KubeObject>; name: string }[]
  /** The writers of the objects that were found, without a predecessor's. */
  configurations(found: KubeObject[]): ObjectConfiguration[]
  document?: DocumentConfiguration
}

/** The required form of a Service's deletion for software that withdraws an address by nothing else. */
export type DeletionRule = {
  /**
   * The change of a Service that is being deleted after which the software heeds its deletion; undefined if it does as the
   * Service is. Without it the software would go on announcing the address.
   */
  restoring(service: Service, address: string): object | undefined
  /** The time for which it may announce nothing for a Service that has its address again, and the remedy, for people. */
  afterReturn: string
}

/** Our knowledge about one announcing software. Pure: it turns a state into objects; the controllers write them. */
export type Announcer = {
  readonly name: string
  /** The status that we write, where the software does not. Annotations follow from its `requests`. */
  request(address: string): Pick<AnnouncementRequest, 'status'>
  /** Why the software refuses the address of a Service, as it says on the Service itself; undefined where it does not. */
  refusal?(service: Service): string | undefined
  /**
   * Annotations (null removes one) that make the software withdraw a Service's address when spec.loadBalancerIP is
   * removed too. `clearsStatus`: the software clears the status itself. `restoresStatus`: until it does, it may write the
   * address back, so no one else may clear it. Absent if only we show the address.
   */
  withdrawal?: { annotations: Record<string, string | null>; clearsStatus: boolean; restoresStatus?: true }
  /**
   * The software withdraws an address only when the Service is deleted: no change of a Service makes it do so. It may
   * announce nothing for a Service that gets its address back.
   */
  withdrawsOnlyOnDeletion?: DeletionRule
  configuration?: ObjectConfiguration | DocumentConfiguration | EitherConfiguration
  /** The cloud routes each address to one machine, and we choose it; a Service shows its address only when that is done. */
  assignment?: { isProbed: boolean }
  /** The configurations that are emptied as soon as this software has its own. */
  former?: readonly FormerConfiguration[]
  /** Load balancing is off: the announcements of other software stay, but for addresses that are released. */
  keepsFormer?: true
}
