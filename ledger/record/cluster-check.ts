/**
 * Whether this cluster is the only one with its id, as far as the leader knows. `unchecked`: no sweep of this leader has
 * read the cloud yet. `waiting`: another cluster may show itself soon. `foreign`: another cluster uses the id; nothing may be released.
 */
export type ClusterState =
  { kind: 'unchecked' } | { kind: 'waiting' } | { kind: 'ours' } | { kind: 'foreign'; reason: string }

/** Throws if another cluster uses our id; returns what a release has to wait for, if anything. */
export function pendingCheck(state: ClusterState): 'unchecked' | 'waiting' | undefined {
  if (state.kind === 'foreign') throw new Error(`not released: ${state.reason}`)
  return state.kind === 'ours' ? undefined : state.kind
}
