import { type BehaviourOf, answer } from '../unknown-behaviour.ts'

/**
 * What nobody outside the vendor knows for sure, or what differed over the years: each question with its possible
 * answers. The first is the default; tests of a client should pass with all of them.
 */
export const behaviourChoices = {
  /** The order of lists. */
  listOrder: ['newest-first', 'oldest-first'],
  /** What `GET /projects/{id}/ips` lists when `types` is not given. */
  typesByDefault: ['all', 'public-and-global'],
  /** A reservation in a metro or facility that does not exist. */
  unknownLocation: ['404', '422'],
  /** A project that exists, asked for with a token that may not use it. */
  foreignProject: ['403', '404'],
  /** Deleting a reservation of which a device still holds an address. */
  deleteAssigned: ['refused', 'cascades'],
  /** Reading a device that failed to provision: 403 was seen. */
  failedDevice: ['403', '200'],
  /** Enabling BGP on a project that has it. */
  repeatedBgpConfig: ['422', '204'],
  /** The BGP configuration of a project that has none. */
  emptyBgpConfig: ['empty', 'nulls'],
  /** `type: "IPAssignment"` on assignments: there since 2023. */
  assignmentType: ['present', 'absent'],
} as const

export type UnknownBehaviour = BehaviourOf<typeof behaviourChoices>

/** The default answer to every question, with those that are given. */
export const chooseBehaviour = (given?: Partial<UnknownBehaviour>): UnknownBehaviour => answer(behaviourChoices, given)
