/**
 * Whether this cluster is the only one with its id, as far as the leader knows. `unchecked`: no sweep of this leader has
 * read the cloud yet. `foreign`: another cluster uses the id; nothing may be released.
 */
export type ClusterState = { kind: 'unchecked' } | { kind: 'ours' } | { kind: 'foreign'; reason: string }

/** Throws if another cluster uses our id; returns whether a release has to wait for the first sweep. */
export function mustWaitForCheck(state: ClusterState): boolean {
  if (state.kind === 'foreign') throw new Error(`not released: ${state.reason}`)
  return state.kind === 'unchecked'
}
