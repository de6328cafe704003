import { machineRules } from './contract/machines.ts'
import { peeringFailureRules } from './contract/peering-failures.ts'
import { peeringRules } from './contract/peering.ts'
import { reservationFailureRules } from './contract/reservation-failures.ts'
import { reservationRules } from './contract/reservations.ts'
import { type PeeringStage, rulesOn, type Stage } from './contract/stage.ts'

export type { PeeringStage, Stage } from './contract/stage.ts'

/** What every vendor's client owes to the ports. The suite fills the file that calls it. */
export function cloudContract(name: string, start: () => Promise<Stage>): void {
  const on = rulesOn(name, start)
  reservationRules(on)
  reservationFailureRules(on)
  machineRules(on)
}

/** What a vendor's client with BGP owes beside that. */
export function peeringContract(name: string, start: () => Promise<PeeringStage>): void {
  const on = rulesOn(name, start)
  peeringRules(on)
  peeringFailureRules(on)
}
