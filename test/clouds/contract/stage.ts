import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Assignments } from '../../../clouds/ports/assignments.ts'
import type { CloudError } from '../../../clouds/ports/cloud.ts'
import type { Peering } from '../../../clouds/ports/peering.ts'
import type { Vendor } from '../../../clouds/ports/cloud-provider.ts'
import type { AccountControl } from '../../../sandbox/clouds/control.ts'
import { cloudErrorOf } from '../scripted-server.ts'

/** A vendor's client before a simulated cloud in which nothing is reserved, and no machine runs. */
export type Stage<V extends Vendor = Vendor> = AsyncDisposable & {
  cloud: V
  /** The same client with a key that the cloud does not know, with one that may only read, and with one that lost the project. */
  withUnknownKey: V
  withReadOnlyKey: V
  withForeignKey: V
  /** Every key in use here: no message may hold one. */
  keys: string[]
  location: string
  /** The region of its machines, if addresses are reserved by another place. */
  region?: string
  /** Whether the cloud refuses a key of another project; one that does not shows another project without a word. */
  refusesForeignKey?: false
  control: AccountControl
  routes: Record<Route, string>
  machines: MachineRoom
}

/** A cloud that may take its time over an address. */
export type GrantStage = Stage & {
  grants: {
    /** From now on it does; then a person decides. */
    late(): void
    grant(id: string): void
    deny(id: string): void
  }
}

type Route = 'reserve' | 'release' | 'list' | 'machines' | 'machine'

/** Changes of machines behind the client's back. */
export type MachineRoom = {
  /** Orders a machine that runs. Returns its id. */
  add(name: string): string
  turnOff(id: string): void
  turnOn(id: string): void
  /** It is between on and off for long. */
  reinstall(id: string): void
  remove(id: string): void
  /** With what a machine is read: its private address and network, and addresses that are lent to it; all by default. */
  shows?: { privateAddress?: false; privateNetwork?: false; lent?: boolean }
  /** Lends a reserved address to it. */
  lend(id: string, address: string): Promise<void>
}

/** A vendor with BGP. */
export type PeeringStage = Stage<Vendor & { peering: Peering }> & { peering: PeeringRoom }

/** How the vendor's BGP is called, and what its routers expect. */
export type PeeringRoom = {
  routes: Record<'project' | 'enable' | 'machines' | 'enableOn' | 'peers', string>
  /** The number that the cloud chooses for the project; undefined where it takes ours. */
  chosenAsn: number | undefined
  peerAsn: number
  /** BGP of the project is BGP of all its machines: none has to be enabled. */
  isOfAll?: true
  /** The list of machines does not show BGP, so that each machine is read. */
  readsEach?: boolean
  /** The cloud makes a password where we choose none. */
  makesPassword?: true
}

/** A vendor whose routers may want a password. */
export type PasswordStage = PeeringStage & {
  /** A request that the cloud takes. */
  password: string
}

/** A vendor that assigns an address to one machine. */
export type AssignmentStage = Stage<Vendor & { assignments: Assignments }> & {
  /** The calls that move an address from a machine to another, in order. */
  moveRoutes: string[]
  writesOfMove: number
  /**
   * The first write of a move is an attempt that is refused while a machine has the address. The second takes the address
   * from whichever machine has it then.
   */
  isTriedFirst?: boolean
  /** The prefix of a mark's name where the cloud shows it as a tag. */
  tagPrefix?: string
  /** A machine in another place than the addresses; absent where an address goes to every place. */
  addElsewhere?: (name: string) => string
}

/** A vendor whose keys may use several projects. */
export type ProjectStage = AssignmentStage & {
  /** The client of another project, with the key of `cloud`. */
  inOtherProject: Vendor
}

/** Adds a rule to the suite: the test gets a stage of its own. */
export type On<S = Stage> = (title: string, run: (stage: S) => Promise<void>) => void

/** Rules under a vendor's name, each on a stage of its own. */
export function rulesOn<S extends Stage>(name: string, start: () => Promise<S>): On<S> {
  return (title, run) =>
    test(`${name}: ${title}`, async () => {
      await using stage = await start()
      await run(stage)
    })
}

/** The refusal of a call, which has to keep every secret. */
export async function refusalOf({ keys }: Pick<Stage, 'keys'>, work: Promise<unknown>): Promise<CloudError> {
  const error = await cloudErrorOf(work)
  for (const key of keys) assert.not.match(`${error.message} ${error.stack} ${JSON.stringify(error)}`, key)
  return error
}
