/** A server of the project. */
export type Machine = {
  id: string
  /** The name that its owner chose, usually that of its node. */
  name: string
  /**
   * `changing`: between on and off, as during an installation or a reboot. `unknown`: the list does not tell, because
   * that would cost a call for each machine. A machine that is read by its id always has a state.
   */
  state: 'on' | 'off' | 'changing' | 'unknown'
  /** The vendor's name for its model. */
  type: string | undefined
  region: string | undefined
  zone: string | undefined
  /** The part of the vendor's network that contains its location; absent if the vendor has a single network. */
  networkZone?: string
  addresses: MachineAddress[]
  /** How many addresses can be assigned to it; absent if the vendor names no limit. */
  maxAddresses?: number
  /** The labels that the vendor's own program writes on a node. */
  labels?: Readonly<Record<string, string>>
  /** The network of its private address, in CIDR notation. */
  privateNetwork: string | undefined
}

export type MachineAddress = {
  address: string
  isPublic: boolean
  /** Whether the address may move to another machine. */
  isElastic: boolean
}

/** The servers of a project. */
export type Machines = {
  /** All machines, from every page. */
  machines(signal: AbortSignal): Promise<Machine[]>
  /** Undefined proves that the machine does not exist: any doubt is an error. */
  machine(id: string, signal: AbortSignal): Promise<Machine | undefined>
}

export type ProviderIds = {
  /** The scheme that we write. */
  scheme: string
  /** Schemes that predecessors wrote. */
  older: readonly string[]
  /** The path between the scheme and the id. An id under another path belongs to no machine that this process serves. */
  path?: string
  /** ProviderIDs of the vendor's other machines, which this process does not serve. */
  neighbours?: RegExp
  /** The form of an id. It is the only way to recognize a bare id, and we ask the provider for no other. */
  id: RegExp
}
