import type { Key, KubeObject, Service } from '../kube/objects.ts'
import type { Resource } from '../kube/resource.ts'
import type { Labels } from '../lib/label-selector.ts'

/** The fields of a Service by which its address is announced; absent fields are not ours to write. */
export type AnnouncementRequest = {
  annotations: Record<string, string>
  status?: NonNullable<Service['status']>
}

/** A BGP session between a node and one of the provider's routers. */
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
  /** Annotations of the node in which the software reports what it does there. */
  annotations?: Readonly<Record<string, string>>
  /** Labels of the node, by which people's objects select it. */
  labels?: Labels
}

export type Announced = { address: string; services: Key[] }

/** The facts, besides its address, that decide how announcing software treats a Service. */
export type ServiceFacts = { loadBalancerClass?: string; labels?: Labels; annotations?: Record<string, string> }

/** Everything that the network must learn. The lists may be in any order and contain duplicates. */
export type Announcements = {
  addresses: Announced[]
  nodes: NodePeers[]
  /** The known facts about Services; a missing Service has none. */
  facts?: Pick<ReadonlyMap<Key, ServiceFacts>, 'get'>
  /**
   * Addresses that Services show before the ledger has a record of them. A predecessor's announcements of them stay.
   */
  undecided?: Announced[]
  /** Addresses that Services still show while the software withdraws them. */
  leaving?: Announced[]
  /** Whether a Node exists; absent if that is unknown. */
  hasNode?: (name: string) => boolean
  /**
   * Addresses in the status of any Service. Software that reserves addresses for certain namespaces must not get these.
   */
  visible?: Announced[]
  /** Services whose status another program wrote. */
  foreign?: { service: Key; loadBalancerClass: string | undefined }[]
}

/** The subject of an object: it gets the Event that says why the object was refused. */
export type Subject = { service: Key } | { node: string }

/** An object that must exist, with the fields that we set (null: must be removed), and its subjects. */
export type WantedObject = { object: KubeObject; subjects: Subject[] }

/**
 * A part of the state that the announcing software refuses, or that we left out because it would. `mayPass`: the
 * software also reports this briefly while it applies a change, and retries on its own.
 */
export type Problem = { subject: Subject; message: string; mayPass?: true }

/**
 * The objects that must exist, and the problems that rule out others. `isHeld`: without those the software would
 * announce nothing, so the announcements of other software stay.
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
   * with `only` we may change the object of that name and no other. `isShared`: people edit that object too.
   * `isPruned`: old CRDs lack a field that we write, so a create drops it and an apply is refused. `isStrict`: a patch
   * with such a field must be refused too, because the object is wrong without it. `isWatched`: without such an object
   * nodes lose routes, or accept any, so we watch for its deletion; there are few.
   */
  kinds: {
    resource: Resource<KubeObject>
    only?: string
    isShared?: true
    isPruned?: true
    isStrict?: true
    isWatched?: true
  }[]
  /** The software that installs these kinds, for messages about a cluster that lacks them. */
  from: string
  /** Whether we may remove an object: we wrote it, or a predecessor left it. */
  isOurs: (object: KubeObject) => boolean
  /** All objects that must exist, in canonical order. `existing` are all objects of these kinds, foreign ones included. */
  objects(state: Announcements, existing: KubeObject[]): Configured
  /** The sessions of an object, which restart on any change of its spec; undefined if it has none. */
  sessionsOf?: (object: KubeObject) => ObjectSessions | undefined
  /** Whether two objects with these sessions cannot exist or work side by side. */
  excludes?: (one: ObjectSessions, other: ObjectSessions) => boolean
  /** The kinds in which the software reports whether it accepts its configuration; we only read them. */
  reports: Resource<KubeObject>[]
  reportedProblems(reports: KubeObject[], state: Announcements): Problem[]
  /** The kind whose objects make the software announce addresses. */
  announcing: Resource<KubeObject>
  /** The name under which we create the object of an address. A predecessor's object may have another name. */
  nameFor(address: string): string | undefined
  /** Whether an object of that kind makes the software announce an address. */
  hasAddress(object: KubeObject, address: string): boolean
  /**
   * How long a machine may continue to announce after its Node was deleted, and the node of each of our objects. Absent
   * if the software then withdraws.
   */
  lingering?: { forMs: number; nodeOf: (object: KubeObject) => string | undefined }
}

/**
 * Configuration by a document that people edit too: we change it in place and keep everything that they wrote. It holds
 * passwords in plain text, so no part of it may reach a log or an Event.
 */
export type DocumentConfiguration = {
  kind: 'document'
  at: { namespace: string; name: string; key: string }
  /**
   * The document with the necessary changes; the same text if there are none. Throws if the document cannot be read.
   */
  edit(document: string, state: Announcements): { document: string; problems: Problem[] }
  /** The document without our pools for addresses that are neither announced nor undecided; all else stays. */
  withdraw(document: string, state: Announcements): string
  /** Whether the document makes the software announce an address. */
  hasAddress(document: string, address: string): boolean
}

/** Configuration of software whose versions read either objects or a document: we use what the cluster has. */
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
  /** The configurations that own the found objects, except a predecessor's. */
  configurations(found: KubeObject[]): ObjectConfiguration[]
  document?: DocumentConfiguration
}

/** How to delete a Service if the software withdraws an address only then. */
export type DeletionRule = {
  /**
   * The change that a Service under deletion needs, because the software would otherwise ignore the deletion and keep
   * announcing the address. Undefined if it needs none.
   */
  restoring(service: Service, address: string): object | undefined
  /** For people: how long the software may announce nothing for a Service that regains its address, and the remedy. */
  afterReturn: string
}

/** Our knowledge about one announcing software. Pure: it turns a state into objects, and the controllers write them. */
export type Announcer = {
  readonly name: string
  /** The status that we write if the software does not. Annotations follow from its `requests`. */
  request(address: string): Pick<AnnouncementRequest, 'status'>
  /** Why the software refuses the address of a Service, read from the Service itself; undefined if it does not. */
  refusal?(service: Service): string | undefined
  /**
   * Annotations (null removes one) that make the software withdraw a Service's address when spec.loadBalancerIP is
   * removed too. `clearsStatus`: the software clears the status itself. `restoresStatus`: until then it may write the
   * address back, so nothing else may clear the status. Absent if only we show the address.
   */
  withdrawal?: { annotations: Record<string, string | null>; clearsStatus: boolean; restoresStatus?: true }
  /**
   * Set if the software withdraws an address only when the Service is deleted, and on no other change. It may announce
   * nothing for a Service that regains its address.
   */
  withdrawsOnlyOnDeletion?: DeletionRule
  configuration?: ObjectConfiguration | DocumentConfiguration | EitherConfiguration
  /** The provider routes each address to one machine, which we choose; a Service shows its address only afterwards. */
  assignment?: { isProbed: boolean }
  /** The configurations that are emptied as soon as this software has its own. */
  former?: readonly FormerConfiguration[]
  /** Load balancing is off: announcements by other software stay, except for released addresses. */
  keepsFormer?: true
}
