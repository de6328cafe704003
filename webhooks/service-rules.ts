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
 * The Service of a request that the webhook reviews, with its namespace; undefined if the request does not concern it. API
 * servers before 1.28 drop the match conditions of our configurations, so this checks them again.
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

/** Whether a request changes a Service whose deletion has begun: our denial or change could block that. */
export function isTerminating({ oldObject }: AdmissionRequest<Service>): boolean {
  return oldObject?.metadata.deletionTimestamp !== undefined
}

/** The address that we gave to a Service, as its annotation shows it. */
export function annotatedAddress(service: Service | null): string | undefined {
  return service?.spec.type === 'LoadBalancer' ? service.metadata.annotations?.[addressAnnotation] : undefined
}

/** Whether an annotation protects the address of a Service. */
export function isProtected(service: Service | null): boolean {
  return service?.spec.type === 'LoadBalancer' && hasProtection(service)
}

/** The problems of a Service that it did not have before: an update is denied only for what it changes. */
export function newProblems(now: Want, before: Want | undefined): string[] {
  if (now.kind !== 'wrong') return []
  const known = new Set(before?.kind === 'wrong' ? before.problems : [])
  return now.problems.filter((problem) => !known.has(problem))
}

/** The Service in a text for its user, who knows a prefix where he gave no name. */
export function subjectOf(service: Service): string {
  const { namespace, name, generateName } = service.metadata
  return `Service ${name ? keyOf(service) : `${namespace}/${generateName}*`}`
}

/** A single text with the problems of a Service, for a terminal. */
export function problemText(service: Service, problems: string[]): string {
  const subject = subjectOf(service)
  const [only] = problems
  if (problems.length === 1) return `${subject}: ${only}`
  return `${subject}: ${problems.length} mistakes:\n${firstItems(problems)
    .map((problem) => `  - ${problem}`)
    .join('\n')}`
}
