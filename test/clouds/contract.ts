import { assignmentFailureRules } from './contract/assignment-failures.ts'
import { assignmentRules } from './contract/assignments.ts'
import { familyRules } from './contract/families.ts'
import { grantRules } from './contract/grants.ts'
import { machineRules } from './contract/machines.ts'
import { passwordRules } from './contract/passwords.ts'
import { peeringFailureRules } from './contract/peering-failures.ts'
import { peeringRules } from './contract/peering.ts'
import { projectRules } from './contract/projects.ts'
import { reservationFailureRules } from './contract/reservation-failures.ts'
import { reservationRules } from './contract/reservations.ts'
import {
  type AssignmentStage,
  type GrantStage,
  type PasswordStage,
  type PeeringStage,
  type ProjectStage,
  rulesOn,
  type Stage,
} from './contract/stage.ts'

export type { AssignmentStage, GrantStage, PasswordStage, PeeringStage, ProjectStage, Stage } from './contract/stage.ts'

/** The duties of every vendor's client to the ports. The suite fills the file that calls it. */
export function cloudContract(name: string, start: () => Promise<Stage>): void {
  const on = rulesOn(name, start)
  reservationRules(on)
  reservationFailureRules(on)
  machineRules(on)
}

/** The further duties of the client of a vendor that may take its time over an address. */
export function grantContract(name: string, start: () => Promise<GrantStage>): void {
  grantRules(rulesOn(name, start))
}

/** The further duties of the client of a vendor whose keys may use several projects. */
export function projectContract(name: string, start: () => Promise<ProjectStage>): void {
  projectRules(rulesOn(name, start))
}

/** The further duties of a vendor's client with BGP. */
export function peeringContract(name: string, start: () => Promise<PeeringStage>): void {
  const on = rulesOn(name, start)
  peeringRules(on)
  peeringFailureRules(on)
}

/** The further duties of the client of a vendor that assigns an address to one machine. */
export function assignmentContract(name: string, start: () => Promise<AssignmentStage>): void {
  const on = rulesOn(name, start)
  assignmentRules(on)
  assignmentFailureRules(on)
}

/** The further duties of the client of a vendor whose BGP may have a password. */
export function passwordContract(name: string, start: () => Promise<PasswordStage>): void {
  passwordRules(rulesOn(name, start))
}

/** The further duties of the client of a vendor that assigns addresses of both families. */
export function familyContract(name: string, start: () => Promise<AssignmentStage>): void {
  familyRules(rulesOn(name, start))
}
