import type { BehaviourOf } from '../unknown-behaviour.ts'

/** The behaviour that the vendor's documentation leaves open; the first value is the default. */
export const behaviourChoices = {
  /**
   * The outcome of a second action on the same address, or on the same server: 423, an action that fails later, or nothing.
   */
  lock: ['strict', 'late', 'none'],
  /** Assigning an address to the server that has it. */
  sameServer: ['422', '201'],
  /** Assigning an address that another server has: the address moves, or this is refused. */
  otherServer: ['201', '422'],
  /** Assigning an address to a server that does not exist. */
  unknownServer: ['404', '422'],
  /** The reason for refusing an order that is over the limit of the project, and whose name is taken. */
  orderOverLimit: ['limit', 'name'],
  /** The reason for refusing to delete an address that is both protected and assigned. */
  deleteOrder: ['protected', 'assigned'],
  /** How soon `public_net.floating_ips` of a server shows a change: with the address, or never. */
  serverShowsAddresses: ['at-once', 'never'],
} as const

export type UnknownBehaviour = BehaviourOf<typeof behaviourChoices>
