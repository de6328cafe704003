import type { Service } from '../kube/objects.ts'
import { keyOf } from '../kube/objects.ts'
import { addressAnnotation, protectAnnotation } from '../ledger/record/names.ts'
import type { Want } from '../ledger/want/want.ts'
import type { WebhookIdentity } from './identities.ts'
import type { AdmissionRequest } from './review.ts'

/**
 * The Service of a request that is ours to judge, with the namespace it will have. API servers before 1.28 drop the
 * conditions of our configurations, so whatever those keep away is turned away here too.
 */
export function serviceOf(
  { operations, resource }: WebhookIdentity,
  request: AdmissionRequest<Service>,
  isSelf: (user: string) => boolean,
): Service | undefined {
  const { operation, object, oldObject, namespace } = request
  if (!operations.some((known) => known === operation)) return undefined
  if ((request.subResource ?? '') !== (resource === 'services/status' ? 'status' : '')) return undefined
  // Whatever a terminating object still needs, refusing or changing it could keep it from ever going.
  if (oldObject?.metadata.deletionTimestamp || isSelf(request.userInfo?.username ?? '')) return undefined
  const service = operation === 'DELETE' ? oldObject : object
  if (!service || service.kind !== 'Service' || !service.spec) return undefined
  return namespace === undefined ? service : { ...service, metadata: { ...service.metadata, namespace } }
}

/** The address of ours that a Service shows or showed. */
export function shownAddress(service: Service | null): string | undefined {
  return service?.spec.type === 'LoadBalancer' ? service.metadata.annotations?.[addressAnnotation] : undefined
}

/** Whether a person asked that a Service keep its address until they say otherwise. */
export function isProtected(service: Service | null): boolean {
  return service?.spec.type === 'LoadBalancer' && service.metadata.annotations?.[protectAnnotation] === 'true'
}

/** What is wrong with a Service that was not wrong with it before; nobody is refused for what they did not touch. */
export function newProblems(now: Want, before: Want | undefined): string[] {
  if (now.kind !== 'wrong') return []
  const known = before?.kind === 'wrong' ? before.problems : []
  return now.problems.filter((problem) => !known.includes(problem))
}

/** One text with every problem of a Service, for a terminal. */
export function problemText(service: Service, problems: string[]): string {
  const { name, generateName } = service.metadata
  const who = `Service ${name ? keyOf(service) : `${service.metadata.namespace}/${generateName}*`}`
  const [only] = problems
  if (problems.length === 1) return `${who}: ${only}`
  return `${who}: ${problems.length} mistakes:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`
}
