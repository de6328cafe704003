import { assignmentFailureRules } from './contract/assignment-failures.ts'
import { assignmentRules } from './contract/assignments.ts'
import { familyRules } from './contract/families.ts'
import { grantRules } from './contract/grants.ts'
import { machineRules } from './contract/machines.ts'
import { passwordRules } from './contract/passwords.ts'
import { peeringFailureRules } from './contract/peering-failures.ts'
import { peeringRules } from './contract/peering.ts'
import { reservationFailureRules } from './contract/reservation-failures.ts'
import { reservationRules } from './contract/reservations.ts'
import {
  type AssignmentStage,
  type GrantStage,
  type PasswordStage,
  type PeeringStage,
  rulesOn,
  type Stage,
} from './contract/stage.ts'

export type { AssignmentStage, GrantStage, PasswordStage, PeeringStage, Stage } from './contract/stage.ts'

/** What every vendor's client owes to the ports. The suite fills the file that calls it. */
export function cloudContract(name: string, start: () => Promise<Stage>): void {
  const on = rulesOn(name, start)
  reservationRules(on)
  reservationFailureRules(on)
  machineRules(on)
}

/** What the client of a vendor that may take its time over an address owes beside that. */
export function grantContract(name: string, start: () => Promise<GrantStage>): void {
  grantRules(rulesOn(name, start))
}

/** What a vendor's client with BGP owes beside that. */
export function peeringContract(name: string, start: () => Promise<PeeringStage>): void {
  const on = rulesOn(name, start)
  peeringRules(on)
  peeringFailureRules(on)
}

/** What the client of a vendor that assigns an address to one machine owes beside that. */
export function assignmentContract(name: string, start: () => Promise<AssignmentStage>): void {
  const on = rulesOn(name, start)
  assignmentRules(on)
  assignmentFailureRules(on)
}

/** What the client of a vendor whose BGP may have a password owes beside that. */
export function passwordContract(name: string, start: () => Promise<PasswordStage>): void {
  passwordRules(rulesOn(name, start))
}

/** What the client of a vendor that assigns addresses of both families owes beside that. */
export function familyContract(name: string, start: () => Promise<AssignmentStage>): void {
  familyRules(rulesOn(name, start))
}
