import type { BehaviourOf } from '../unknown-behaviour.ts'

/** The behaviour that the vendor's documentation leaves open; the first value is the default. */
export const behaviourChoices = {
  /** Attaching an address that another server has: it moves, or is refused with one of two errors. */
  attachElsewhere: ['accept', 'precondition', 'invalid'],
  /** Attaching to a server that is not in the zone. */
  unknownServer: ['400', '404'],
  /** Attaching or detaching a deleted address. */
  unknownAddress: ['404', '403'],
  /** The value of `server_id` while an address moves: nothing, or the previous server. */
  movingShows: ['nothing', 'previous'],
  /** Deleting an address once more while its deletion runs. */
  deleteAgain: ['204', '409'],
  /** The mask of a single address: none, or `/32` and, for a server's IPv6 address, `/128`. */
  mask: ['none', '/32'],
  /** Whether `ips` of a server shows the addresses that are attached to it. */
  serverShowsAddresses: ['never', 'at-once'],
  /** The status of an error about the quota; its type is the same. */
  quotaStatus: ['403', '400'],
} as const

export type UnknownBehaviour = BehaviourOf<typeof behaviourChoices>
