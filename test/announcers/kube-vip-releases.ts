// The differences between the releases of kube-vip in how they read a Node and a Service.

/** Where a Service may say its address. */
export type Source = 'annotation' | 'status' | 'spec'

/** How a release reads. */
export type Rules = {
  /** Addresses of all peers; else of the first alone. Everything else is always the first one's. */
  readsEveryPeer: boolean
  /** The names of annotations are compared to their end, and a dot in the prefix is a dot. */
  isExact: boolean
  /** Whether a setting can say that a peer is more than one hop away. */
  knowsHops: boolean
  /** Where it looks for the address of a Service, in this order. */
  sources: readonly Source[]
  /** Gives a Service up whose status shows other ports than its spec. */
  comparesPorts: boolean
  /**
   * Takes it for a change when an address is in another field than before, or when a Service was of another type for a
   * while. It then announces nothing for that Service until it is restarted (seen with 1.2.0 and 1.2.3).
   */
  comparesNames: boolean
}

const old = { readsEveryPeer: false, isExact: false, knowsHops: false, comparesPorts: false, comparesNames: false }
const every = { ...old, readsEveryPeer: true, comparesPorts: true }

/** Each release that reads something otherwise; 1.0.0 to 1.1.2 are not there: they read no annotations of nodes in time. */
const byRelease = {
  '0.5.11': { ...old, sources: ['spec'] },
  '0.5.12': { ...old, sources: ['annotation', 'spec'] },
  '0.6.1': { ...every, sources: ['annotation', 'spec'] },
  '0.8.10': { ...every, sources: ['annotation', 'status', 'spec'] },
  '1.2.0': { ...every, isExact: true, knowsHops: true, comparesNames: true, sources: ['annotation', 'status', 'spec'] },
} as const satisfies Record<string, Rules>

export type Release = keyof typeof byRelease

export const releases = Object.keys(byRelease) as Release[]

/** The rules of a release. */
export function rulesOf(release: Release): Rules {
  return byRelease[release]
}
