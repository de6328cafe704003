import type { LabelRequirement } from '../../lib/label-selector.ts'

/** A BGP session between a machine and a router of its provider. */
export type Peer = {
  localAsn: number
  peerAsn: number
  peerAddress: string
  /** The address from which the router expects the machine's session. */
  sourceAddress: string
  isMultihop: boolean
  password: Password | undefined
}

/** A text that is never printed; only `reveal` returns it. */
export type Password = { reveal(): string }

/** BGP of a project: the autonomous system and the password that its machines share. */
export type ProjectPeering = {
  /** Undefined until the provider has chosen one, if it makes the choice. */
  asn: number | undefined
  password: Password | undefined
}

/** The routers' last view of a machine's sessions. A session that they have not looked at is in neither number. */
export type SeenSessions = {
  up: number
  down: number
  /** When they saw it; undefined if the provider does not say. */
  seenAt: string | undefined
}

/** BGP of a provider whose routers have sessions with each machine. */
export type Peering = {
  /** Undefined if BGP is off. */
  project(signal: AbortSignal): Promise<ProjectPeering | undefined>
  /** Enables BGP. The provider never changes these values afterwards. */
  enable(wanted: ProjectPeering, signal: AbortSignal): Promise<void>
  /** The ids of the machines on which BGP is enabled. */
  machines(signal: AbortSignal): Promise<Set<string>>
  /** The routers' view of these machines, by id. Some providers look only every few hours. */
  sessions(signal: AbortSignal): Promise<Map<string, SeenSessions>>
  /** Enables BGP on one machine; success if it is already enabled. */
  enableOn(machine: string, signal: AbortSignal): Promise<void>
  /** The peers of a machine, ordered by address; none until the provider has decided. */
  peers(machine: string, signal: AbortSignal): Promise<Peer[]>
}

type PeerField = 'localAsn' | 'peerAsn' | 'peerAddress' | 'sourceAddress' | 'multihop' | 'password' | 'privateNetwork'

/** How a node's annotations show its peers. */
export type AnnotationScheme = {
  /** The names of the annotations; `{{n}}` is the number of a peer. A field without a name is not written. */
  names: Partial<Record<PeerField, string>>
  /** Whether the announcing software reads passwords only from annotations. */
  showsPasswords: boolean
  /** A predecessor's names for the same facts, which the announcing software still reads. */
  outdated: readonly string[]
}

/** The settings' decisions about BGP. */
export type Bgp = {
  /** Whether the announcing software uses BGP. */
  isOn: boolean
  project: ProjectPeering
  selector: LabelRequirement[]
  annotations: AnnotationScheme
  /** How many addresses the routers accept from a node, if known. */
  maxPrefixes: number | undefined
}
