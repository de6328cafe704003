import type { Fault } from '../../clouds/ports/cloud.ts'
import type { Condition } from '../../kube/objects.ts'
import type { ElasticIP } from './elastic-ip.ts'
import { condition } from './records.ts'

/** A single word for each fault of a call to the cloud, and for every other refusal. */
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

/** That the cloud is not known to have accepted a request for the address, and by which fault: its words do not say that. */
export function notRequested(fault: keyof typeof reasons, { status = 'False', ...facts }: Facts): Condition {
  return condition('Accepted', { status, reason: reasons[fault], ...facts })
}

/** Whether the last request for the address came to no answer, so that the cloud may still carry it out. */
export function isAnswerLost({ status }: ElasticIP): boolean {
  return status?.conditions?.find(({ type }) => type === 'Accepted')?.status === 'Unknown'
}

/** Whether the cloud refused the last request because the quota of the project is used up. */
export function isOverQuota({ status }: ElasticIP): boolean {
  const request = status?.conditions?.find(({ type }) => type === 'Accepted')
  return status?.address === undefined && request?.reason === reasons.quota
}
