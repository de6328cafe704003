// An address routes to one machine, and the provider decides to which. The first row that applies decides.
//
//   the address                | and                                        | step
//   ---------------------------+--------------------------------------------+---------------------------
//   has no reservation of ours | a Service shows it                         | -, says why it has no route
//   is gone at the cloud       |                                            | -, the sweep tells
//   is foreign by now          | a Service shows it                         | -, says whose it is
//   is not known for certain   |                                            | -, looks again
//   is to be moved or freed    | another cluster uses our id, or the leader | -, waits
//                              | has not looked for one yet                 |
//   no Service shows it        | it stays reserved, and was taken from      | -, waits
//                              | machines often: assigning.ts               |
//   no Service shows it        | it is to be freed, and a machine has it    | unassign
//                              | (a release waits for it, or has begun)     |
//   no Service shows it        |                                            | -
//   is at no machine yet       | its Services serve only where their        | -, waits for a while
//                              | endpoints are, and have none yet           |
//   a Service shows it         | as move-plan.ts decides                    | move; or wait
import type { AssignedAddress } from '../../clouds/ports/assignments.ts'
import type { Key } from '../../kube/objects.ts'
import { transferAnnotation } from '../../ledger/record/names.ts'
import type { Plan } from '../loop/reconciler.ts'
import type { Decision } from '../moves/move-plan.ts'
import type { Move } from '../moves/mover.ts'

/** Nothing is moved or freed. `problem` is absent if that is only momentary. */
export type Halt = { problem?: string }

export type AssigningStep = { do: 'unassign'; machine: string } | { do: 'move'; machine: string; move: Move }

/** The facts that decide about one address. */
export type SeenAddress = {
  services: readonly Key[]
  /** The reservation in the ledger. */
  id: string | undefined
  /** The provider's answer; undefined if the address is deleted or foreign. */
  assigned: AssignedAddress | undefined
  /** Why the reservation is not the ledger's, according to marks.ts. */
  foreign: string | undefined
  /** Whether the provider's last answer is beyond doubt. */
  isKnown: boolean
  isLeaving: boolean
  /** How long the address must stay on its machine. */
  pacedMs: number
  /** How long it may still wait for its Services' first endpoint. */
  awaitsEndpointsMs: number
  halt: Halt | undefined
  /** Undefined if no Service shows it. */
  decision: Decision | undefined
}

/** A step or a wait, and what the Services of the address should know. */
export type AssigningPlan = Plan<AssigningStep> & { problem?: string | undefined }

const waitMs = 1_000
/** A new leader has looked for another cluster once its first list has arrived. */
const uncheckedMs = 200
/** Another cluster that uses our id stays for hours, until a person acts. */
const haltedMs = 10_000

/** Plans the next step for one address. Pure. */
export function planAssigning(seen: SeenAddress): AssigningPlan {
  const { services, id, assigned, foreign, isKnown, awaitsEndpointsMs, decision } = seen
  const isShown = services.length > 0
  if (id === undefined) return isShown ? { problem: withoutReservation } : {}
  if (!assigned) return foreign !== undefined && isShown ? { problem: foreignText(foreign) } : {}
  if (!isKnown) return { againInMs: waitMs }
  const [machine] = assigned.machines
  if (!isShown) return machine === undefined ? {} : planUnshown(seen, { do: 'unassign', machine })
  if (machine === undefined && awaitsEndpointsMs > 0) return { againInMs: awaitsEndpointsMs }
  if (decision?.do === 'move') return unlessHalted(seen, { do: 'move', machine: decision.to.machine, move: decision })
  return decision?.do === 'wait' ? { againInMs: waitMs, problem: decision.problem } : { problem: decision?.problem }
}

function planUnshown(seen: SeenAddress, step: AssigningStep): AssigningPlan {
  if (!seen.isLeaving) return {}
  return seen.pacedMs > 0 ? { againInMs: seen.pacedMs } : unlessHalted(seen, step)
}

function unlessHalted({ halt }: SeenAddress, step: AssigningStep): AssigningPlan {
  return halt ? { againInMs: halt.problem === undefined ? uncheckedMs : haltedMs, ...halt } : { step }
}

const withoutReservation =
  'eip-admission has no reservation for the address, so it cannot be assigned to a machine: ' +
  'name it in an ElasticIP (spec.reservationID), or remove it from the Service'

function foreignText(reason: string): string {
  return (
    `its reservation no longer belongs to this Service: ${reason}. It is therefore not assigned to a machine here. ` +
    'To get another address, delete the Service and create it again. To get this one, name its reservation in an ' +
    `ElasticIP, with the annotation ${transferAnnotation} if another cluster has it, and that ElasticIP in the new Service`
  )
}
