/** One BGP session between a machine and a router of its cloud. */
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

/** What the routers of a cloud last saw of a machine's sessions. A session that they have not looked at is in neither number. */
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
  /** What the routers see of these machines, by their ids. Some clouds look only every few hours. */
  sessions(signal: AbortSignal): Promise<Map<string, SeenSessions>>
  /** Turns BGP on for one machine; success if it is on already. */
  enableOn(machine: string, signal: AbortSignal): Promise<void>
  /** The peers of a machine in the order of their addresses; none until the cloud has decided. */
  peers(machine: string, signal: AbortSignal): Promise<Peer[]>
}
