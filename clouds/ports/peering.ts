import type { LabelRequirement } from '../../lib/label-selector.ts'

/** A BGP session between a machine and a router of its cloud. */
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
  /** Undefined until the cloud has chosen one, if it chooses itself. */
  asn: number | undefined
  password: Password | undefined
}

/** The last view of a cloud's routers of a machine's sessions. A session that they have not looked at is in neither number. */
export type SeenSessions = {
  up: number
  down: number
  /** When they saw it; undefined if the cloud does not say that. */
  seenAt: string | undefined
}

/** BGP of a cloud whose routers have sessions with each machine. */
export type Peering = {
  /** Undefined if BGP is off. */
  project(signal: AbortSignal): Promise<ProjectPeering | undefined>
  /** Turns BGP on. The cloud never changes these values again. */
  enable(wanted: ProjectPeering, signal: AbortSignal): Promise<void>
  /** The ids of the machines for which BGP is on. */
  machines(signal: AbortSignal): Promise<Set<string>>
  /** The view of the routers of these machines, by their ids. Some clouds look only every few hours. */
  sessions(signal: AbortSignal): Promise<Map<string, SeenSessions>>
  /** Turns BGP on for one machine; success if it is on already. */
  enableOn(machine: string, signal: AbortSignal): Promise<void>
  /** The peers of a machine in the order of their addresses; none until the cloud has decided. */
  peers(machine: string, signal: AbortSignal): Promise<Peer[]>
}

type PeerField = 'localAsn' | 'peerAsn' | 'peerAddress' | 'sourceAddress' | 'multihop' | 'password' | 'privateNetwork'

/** How the peers of a node are written as its annotations. */
export type AnnotationScheme = {
  /** The names of the annotations; `{{n}}` is the number of a peer. A field without a name is not written. */
  names: Partial<Record<PeerField, string>>
  /** Whether the announcing software reads passwords only here. */
  showsPasswords: boolean
  /** Names that a predecessor used for the same facts, and that the announcing software still reads. */
  outdated: readonly string[]
}

/** The settings' decision about BGP. */
export type Bgp = {
  /** Whether the announcing software uses BGP. */
  isOn: boolean
  project: ProjectPeering
  selector: LabelRequirement[]
  annotations: AnnotationScheme
  /** How many addresses the routers accept from a node, if that is known. */
  maxPrefixes: number | undefined
}
