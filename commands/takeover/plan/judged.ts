import type { Reservation } from '../../../clouds/ports/cloud.ts'
import type { Service } from '../../../kube/objects.ts'
import type { OwnAddressFacts } from '../../../ledger/want/own-address-rules.ts'
import type { Want } from '../../../ledger/want/want.ts'
import type { Context, Values } from '../../../inspect/facts.ts'
import type { Findings, PlannedService } from './plan.ts'

/** What decides about the addresses of Services. */
export type ServiceFacts = Pick<Values, 'cluster' | 'services' | 'records' | 'reservations' | 'controlPlane'>

/** A Service with what the plan says of it. */
export type Judged = { service: Service; planned: PlannedService } & Findings

/** What decides about one Service. */
export type Judging = {
  wanted: Want
  reservation: Reservation | undefined
  facts: ServiceFacts
  own: OwnAddressFacts
  context: Context
}
