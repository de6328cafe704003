import type { AccountControl } from '../clouds/control.ts'

/** A machine as the cloud knows it. */
export type CloudMachine = { name: string; id: string; privateAddress: string; publicAddress: string }

/** A simulated cloud with machines, and an address that it can assign to one of them. */
export type Cloud = {
  url: string
  control: AccountControl
  machines: CloudMachine[]
  /** The control-plane address. */
  address: string
  /** How the provider IDs of its machines begin. */
  scheme: string
  /** The flags with which a guardian uses this cloud. */
  flags: string[]
  /** The settings of a machine's guardian. Its token is its own: the call log names the machine as the caller. */
  env(machine: string): Record<string, string>
  /** Returns the names of the machines that the address is assigned to at this moment. */
  holders(): string[]
  /** Assigns the address by hand, as a person does at the cloud's console; to no machine if none is given. */
  assign(machine: string | undefined): Promise<void>
  /** The calls that change an assignment, as the call log and faults name them: the one that assigns comes last. */
  writes: readonly string[]
  /** The call by which the product lists reservations. */
  list: string
  close(): Promise<void>
}

/** Where a cloud listens, with its certificate and the authority that issued it, and the names of its machines. */
export type CloudOptions = { host: string; tls: { cert: string; key: string }; ca: string; names: string[] }
