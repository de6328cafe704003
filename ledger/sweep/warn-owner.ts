import { keyOf, type Service } from '../../kube/objects.ts'
import { claimKey, type ElasticIP } from '../record/elastic-ip.ts'
import type { LiveService } from './sweep-plan.ts'

/** Tells the owner of a Service. */
export type WarnOwner = (
  service: Service,
  reason: 'SurplusReservation' | 'ContradictoryAddress' | 'AddressImpaired',
  message: string,
) => void

export type OwnerDeps = { listServices: () => LiveService[]; warn: WarnOwner }

/** Tells the owner of the Service that a record is for, if that exists. */
export function warnOwner(
  { warn, listServices }: OwnerDeps,
  record: ElasticIP,
  { reason, message }: { reason: Parameters<WarnOwner>[1]; message: string },
): void {
  const key = claimKey(record)
  const live = listServices().find(({ service }) => keyOf(service) === key)
  if (live) warn(live.service, reason, message)
}
