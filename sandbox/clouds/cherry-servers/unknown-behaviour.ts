import type { BehaviourOf } from '../unknown-behaviour.ts'

/**
 * Behaviour that the vendor does not document: each case with its possible values. The first is
 * the default. Tests of a client should pass with every value.
 */
export const behaviourChoices = {
  /** The order of lists. */
  listOrder: ['oldest-first', 'newest-first'],
  /** The items that `X-Total-Count` counts in a list that is filtered by type. */
  filteredTotal: ['filtered', 'all'],
  /**
   * The items that it counts if a client sends `limit`: the whole list or the page. No client of the vendor sends it.
   */
  limitedTotal: ['list', 'page'],
  /** The status for reading a deleted address; widely used clients treat both as "absent". */
  goneAddress: ['404', '403'],
  /** The status for an existing project when the token belongs to another team. */
  foreignProject: ['403', '404'],
  /** Whether the list of regions needs a token; the list of plans needs none. */
  regionsNeedToken: ['yes', 'no'],
  /** The status for targeting an address at a server that does not exist. */
  unknownTarget: ['404', '400'],
  /** Deleting an address while it is targeted at a server. */
  deleteTargeted: ['refused', 'detaches'],
  /** The status for setting the PTR record that an address already has; 500 has been observed. */
  samePtrRecord: ['500', '200'],
  /** The limit of floating IPs: the granted quota, or the lower of that and four for each server. */
  quotaRule: ['granted', 'four-a-server'],
  /** Enabling BGP for a server whose project has it disabled: the status, or success. */
  bgpBeforeProject: ['400', 'accepted'],
  /** The ASN of a project after its last server disabled BGP. */
  localAsn: ['kept', 'cleared'],
  /** The type of `active` in a server's `bgp`: one client declares a number, another a boolean. */
  bgpActive: ['count', 'flag'],
  /** Whether the list of servers has their `bgp`: one client reads it only from a single server. */
  listShowsBgp: ['yes', 'no'],
  /** The `state` of a server that is switched off: one client waits for "inactive", which has not been observed. */
  stateWhenOff: ['active', 'inactive'],
} as const

export type UnknownBehaviour = BehaviourOf<typeof behaviourChoices>
