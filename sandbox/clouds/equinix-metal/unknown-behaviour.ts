import type { BehaviourOf } from '../unknown-behaviour.ts'

/**
 * Behaviour that the vendor does not document, or that changed over the years: each case with its possible values. The first is
 * the default. Tests of a client should pass with every value.
 */
export const behaviourChoices = {
  /** The order of lists. */
  listOrder: ['newest-first', 'oldest-first'],
  /** The types that `GET /projects/{id}/ips` lists without the parameter `types`. */
  typesByDefault: ['all', 'public-and-global'],
  /** The parameter `types` twice: both count, or only the last. For years every client sent one text with commas. */
  repeatedTypes: ['all', 'last'],
  /** The status for a reservation in a metro or facility that does not exist. */
  unknownLocation: ['404', '422'],
  /** The status for an existing project when the token may not use it. */
  foreignProject: ['403', '404'],
  /**
   * A block of 256 addresses: a person approves it, so that fail-fast requests get 422, or it is granted like any
   * other.
   */
  largestBlock: ['approved', 'granted'],
  /** Deleting a reservation while a device still has one of its addresses. */
  deleteAssigned: ['refused', 'cascades'],
  /** The status for reading a device that failed to provision; 403 has been observed. */
  failedDevice: ['403', '200'],
  /** The status for enabling BGP on a project that has it already. */
  repeatedBgpConfig: ['422', '204'],
  /** The body for the BGP configuration of a project that has none. */
  emptyBgpConfig: ['empty', 'nulls'],
  /** The field `type: "IPAssignment"` on assignments, which exists since 2023. */
  assignmentType: ['present', 'absent'],
  /** The body of errors of the load balancers: texts as elsewhere, or objects as in the service behind them. */
  balancerErrors: ['texts', 'objects'],
  /** The status for a refusal of the load balancers. */
  balancerRefusal: ['422', '400'],
  /** The lists of the load balancers: the vendor's own client reads no second page, but no document rules one out. */
  balancerLists: ['whole', 'paged'],
} as const

export type UnknownBehaviour = BehaviourOf<typeof behaviourChoices>
