import { type BehaviourOf, answer } from '../unknown-behaviour.ts'

/**
 * What nobody outside the vendor knows for sure: each question with its possible answers. The first is the default;
 * tests of a client should pass with all of them.
 */
export const behaviourChoices = {
  /** The order of lists. */
  listOrder: ['oldest-first', 'newest-first'],
  /** Reading an address that is gone: clients in wide use take both for "absent". */
  goneAddress: ['404', '403'],
  /** A project that exists, asked for with a token of another team. */
  foreignProject: ['403', '404'],
  /** Whether the list of regions needs a token; that of plans does not. */
  regionsNeedToken: ['yes', 'no'],
  /** Targeting an address at a server that does not exist. */
  unknownTarget: ['404', '400'],
  /** Deleting an address that is targeted at a server. */
  deleteTargeted: ['refused', 'detaches'],
  /** Setting the PTR record that an address has already: 500 was seen. */
  samePtrRecord: ['500', '200'],
  /** How many floating IPs there may be: what the team was granted, or no more than four a server beside. */
  quotaRule: ['granted', 'four-a-server'],
  /** Turning BGP on for a server whose project has it off. */
  bgpBeforeProject: ['400', 'accepted'],
  /** What becomes of the project's ASN when its last server turns BGP off. */
  localAsn: ['kept', 'cleared'],
  /** `active` in a server's `bgp`: one client declares a number, another a boolean. */
  bgpActive: ['count', 'flag'],
  /** The `state` of a server that is switched off: one client waits for "inactive", nobody has seen it. */
  stateWhenOff: ['active', 'inactive'],
} as const

export type UnknownBehaviour = BehaviourOf<typeof behaviourChoices>

/** The default answer to every question, with those that are given. */
export const chooseBehaviour = (given?: Partial<UnknownBehaviour>): UnknownBehaviour => answer(behaviourChoices, given)
