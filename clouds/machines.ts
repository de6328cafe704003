/** A server of the project, in words that no vendor chose. */
export type Machine = {
  id: string
  /** What its owner called it: as a rule the name of the node that runs on it. */
  name: string
  /**
   * `changing`: between the two, as while it is installed or rebooted. `unsaid`: a list may not tell on from off where
   * that costs a call for each machine; one that is asked for by its id always has a state.
   */
  state: 'on' | 'off' | 'changing' | 'unknown'
  /** The vendor's name for its make. */
  type: string | undefined
  region: string | undefined
  zone: string | undefined
  addresses: MachineAddress[]
  /** The network of its private address, in CIDR notation. */
  privateNetwork: string | undefined
}

export type MachineAddress = {
  address: string
  isPublic: boolean
  /** Lent to the machine, and tomorrow perhaps to another one. */
  isElastic: boolean
}

/** The servers of a project. */
export type Machines = {
  /** All of them, every page. */
  machines(signal: AbortSignal): Promise<Machine[]>
  /** Undefined is a proof that it is gone: any doubt is an error. */
  machine(id: string, signal: AbortSignal): Promise<Machine | undefined>
}
