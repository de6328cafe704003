import type { Machine, Machines } from '../clouds/ports/machines.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Credentials } from '../kube/credentials.ts'
import type { Service } from '../kube/objects.ts'
import type { Caches } from '../ledger/caches.ts'
import type { Context } from '../ledger/context.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { ClusterNetworks } from '../ledger/own/cluster-networks.ts'
import type { KnownLocations } from '../ledger/own/provider-lists.ts'
import type { OwnAddresses } from '../ledger/own/own-addresses.ts'
import type { Want } from '../ledger/want/want.ts'
import type { Activity } from '../telemetry/activity.ts'
import { type RecentRead, recentRead } from '../lib/recent-read.ts'
import type { PeerFacts } from './facts/peer-facts.ts'

/** The parts that declarations of controllers use. The webhooks use the same caches and the same ledger. */
export type Dependencies = Context & {
  activity: Activity
  caches: Caches
  locations: KnownLocations
  networks: ClusterNetworks
  ownAddresses: OwnAddresses
  want: (service: Service) => Want
  ledger: Ledger
  machines: MachineList
  peerFacts: PeerFacts
}

/** The parts of the process that a guardian uses. */
export type GuardianBase = Omit<Context, 'announcer' | 'cluster' | 'settings'> & {
  settings: Pick<Context['settings'], 'process'>
  activity: Activity
  /** Only for elections: a burst of other calls never takes its connections. */
  leaseClient: KubeClient
  credentials: Credentials
  userAgent: string
  endAtOnce: (reason: string) => void
}

/** The machines of a provider, with one list that all callers share. */
export type MachineList = Pick<Machines, 'machine'> & RecentRead<Machine[]>

/** A list that has not been read yet. */
export function machineList({ machines, now }: { machines: Machines; now: () => number }): MachineList {
  return {
    ...recentRead({ read: (signal) => machines.machines(signal), now }),
    machine: (id, signal) => machines.machine(id, signal),
  }
}
