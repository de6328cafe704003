import type { Fault } from '../../clouds/ports/cloud.ts'
import type { Condition } from '../../kube/objects.ts'
import type { ElasticIP } from './elastic-ip.ts'
import { condition } from './records.ts'

/** A one-word reason for each fault of a provider call, and for every other refusal. */
const reasons = {
  auth: 'AuthFailed',
  quota: 'QuotaUsedUp',
  'rate-limit': 'RateLimited',
  conflict: 'Conflict',
  invalid: 'Invalid',
  unavailable: 'Unavailable',
  refused: 'Refused',
} satisfies Record<Fault | 'refused', string>

type Facts = { message: string; now: Date; status?: 'False' | 'Unknown' }

/** The condition that no request for the address is known to be accepted; its reason names the fault. */
export function notRequested(fault: keyof typeof reasons, { status = 'False', ...facts }: Facts): Condition {
  return condition('Accepted', { status, reason: reasons[fault], ...facts })
}

/** Whether the answer to the last request for the address was lost, so that the provider may still execute it. */
export function isAnswerLost({ status }: ElasticIP): boolean {
  return status?.conditions?.find(({ type }) => type === 'Accepted')?.status === 'Unknown'
}

/** Whether the provider refused the last request because the project's quota is used up. */
export function isOverQuota({ status }: ElasticIP): boolean {
  const request = status?.conditions?.find(({ type }) => type === 'Accepted')
  return status?.address === undefined && request?.reason === reasons.quota
}
