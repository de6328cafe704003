import { type Service, keyOf } from '../kube/objects.ts'
import { firstItems } from '../lib/text.ts'
import { addressAnnotation } from '../ledger/record/names.ts'
import { hasProtection } from '../ledger/want/reclaim.ts'
import type { Want } from '../ledger/want/want.ts'
import type { WebhookIdentity } from './identities.ts'
import type { AdmissionRequest } from './review.ts'

/** Whether a request is one of our own. */
export type IsSelf = (request: Pick<AdmissionRequest, 'userInfo' | 'options'>) => boolean

/**
 * The Service of a request that the webhook reviews, with its namespace; undefined if the request is not for the
 * webhook. API servers before 1.28 drop the match conditions of our configurations, so this checks them again.
 */
export function serviceOf(
  { operations, resource }: WebhookIdentity,
  request: AdmissionRequest<Service>,
  isSelf: IsSelf,
): Service | undefined {
  const { operation, object, oldObject, namespace } = request
  if (!operations.some((known) => known === operation)) return undefined
  if ((request.subResource ?? '') !== (resource === 'services/status' ? 'status' : '')) return undefined
  if (isSelf(request)) return undefined
  const service = operation === 'DELETE' ? oldObject : object
  if (!service || service.kind !== 'Service' || !service.spec) return undefined
  return namespace === undefined ? service : { ...service, metadata: { ...service.metadata, namespace } }
}

/** Whether a request changes a Service that is being deleted: our denial or change could block the deletion. */
export function isTerminating({ oldObject }: AdmissionRequest<Service>): boolean {
  return oldObject?.metadata.deletionTimestamp !== undefined
}

/** The address that we gave to a Service, according to its annotation. */
export function annotatedAddress(service: Service | null): string | undefined {
  return service?.spec.type === 'LoadBalancer' ? service.metadata.annotations?.[addressAnnotation] : undefined
}

/** Whether an annotation protects the address of a Service. */
export function isProtected(service: Service | null): boolean {
  return service?.spec.type === 'LoadBalancer' && hasProtection(service)
}

/** The problems that a Service did not have before: an update is denied only for its own changes. */
export function newProblems(now: Want, before: Want | undefined): string[] {
  if (now.kind !== 'wrong') return []
  const known = new Set(before?.kind === 'wrong' ? before.problems : [])
  return now.problems.filter((problem) => !known.has(problem))
}

/** The Service as its user knows it: by its name, or by the prefix if it has none. */
export function subjectOf(service: Service): string {
  const { namespace, name, generateName } = service.metadata
  return `Service ${name ? keyOf(service) : `${namespace}/${generateName}*`}`
}

/** The problems of a Service as one text, for a terminal. */
export function problemText(service: Service, problems: string[]): string {
  const subject = subjectOf(service)
  const [only] = problems
  if (problems.length === 1) return `${subject}: ${only}`
  return `${subject}: ${problems.length} mistakes:\n${firstItems(problems)
    .map((problem) => `  - ${problem}`)
    .join('\n')}`
}
