/** One BGP session between a machine and a router of its cloud. */
export type Peer = {
  localAsn: number
  peerAsn: number
  peerAddress: string
  /** The address that the router expects the machine to speak from. */
  sourceAddress: string
  isMultihop: boolean
  password: Password | undefined
}

/** A text that prints as nothing; only `reveal` gives it away. */
export type Password = { reveal(): string }

/** BGP of a project: the autonomous system and the password that its machines share. */
export type ProjectPeering = {
  /** Undefined while the cloud has not chosen one, where the choice is its own. */
  asn: number | undefined
  password: Password | undefined
}

/** BGP where a cloud speaks it with each machine. */
export type Peering = {
  /** Undefined where it is off. */
  project(signal: AbortSignal): Promise<ProjectPeering | undefined>
  /** Turns it on; the cloud keeps what it was turned on with for good. */
  enable(wanted: ProjectPeering, signal: AbortSignal): Promise<void>
  /** Ids of the machines that it is on for. */
  machines(signal: AbortSignal): Promise<Set<string>>
  /** Turns it on for one machine; where it is on already is success. */
  enableOn(machine: string, signal: AbortSignal): Promise<void>
  /** Whom a machine is to speak with, in the order of their addresses; none while the cloud has not decided. */
  peers(machine: string, signal: AbortSignal): Promise<Peer[]>
}
