import type { BehaviourOf } from '../unknown-behaviour.ts'

/** The behaviour that the vendor's documentation leaves open; the first value is the default. */
export const behaviourChoices = {
  /** The status of an id that is unknown or deleted. The vendor's own tests saw 403. */
  gone: ['403', '404'],
  /** Whether a resource needs all tags of a repeated filter, or one of them. */
  tagFilter: ['and', 'or'],
  /** A filter by a tag name that the account does not have. */
  unknownTagFilter: ['empty', '400'],
  /** A resource that gets a tag whose name the account does not have. */
  unknownTagName: ['400', '404'],
  /** The answer to a request for one block too many. 406 is documented where a location has none of the size. */
  overQuota: ['403', '400', '406'],
  /** Deleting a block that something uses. */
  deleteAssigned: ['409', '400'],
  /** The status of a new block. `creating` ends after `changeMs`. */
  newBlock: ['unassigned', 'creating'],
  /** How a block in a public network names its kind of user. Both were seen. */
  networkUser: ['PUBLIC_NETWORK', 'public network'],
  /** Whether blocks that the vendor manages for a server are in the list. */
  systemBlocks: ['listed', 'hidden'],
  /** A second peer group in one location. */
  secondGroup: ['409', '400'],
  /** Which blocks of a location appear in its peer group. */
  prefixes: ['all', 'unassigned'],
  /** A token with other scopes than its client has: it is refused, as Keycloak does, or they are left out. */
  otherScopes: ['refused', 'dropped'],
} as const

export type UnknownBehaviour = BehaviourOf<typeof behaviourChoices>
