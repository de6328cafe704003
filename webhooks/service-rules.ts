import { type Service, keyOf } from '../kube/objects.ts'
import { firstItems } from '../lib/text.ts'
import { addressAnnotation } from '../ledger/record/names.ts'
import { hasProtection } from '../ledger/want/reclaim.ts'
import { type Want, optOutAnnotation } from '../ledger/want/want.ts'
import type { WebhookIdentity, AdmissionRequest } from './webhook.ts'
import { type OwnAddress, requestedAddresses, requestMistakes } from '../ledger/want/own-address.ts'
import { type Policy, hasClass } from '../settings/service-policy.ts'

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

/** The addresses that a Service requests from the announcing software, and its requests that are no addresses. */
export type Requests = { addresses: OwnAddress[]; mistakes: string[] }

export type Reviewed = { service: Service; old: Service | null; wanted: Want; before: Want | undefined }

const none: Requests = { addresses: [], mistakes: [] }

/**
 * The user-chosen addresses that an updated Service requests. Ours is the address on the stored Service: an update may call
 * another one ours.
 */
export function ownRequests(service: Service, old: Service | null, { managed, requestAnnotations }: Policy): Requests {
  // A balancer has its own addresses, and its Service's requests are not announced.
  if (managed) return none
  const marks = { ...service.metadata.annotations, [addressAnnotation]: annotatedAddress(old) }
  const annotations = marks as Record<string, string>
  const marked = { ...service, metadata: { ...service.metadata, annotations } }
  return {
    addresses: requestedAddresses(marked, requestAnnotations),
    mistakes: requestMistakes(marked, requestAnnotations),
  }
}

/** A user's new requests. Stored requests are kept: the controller warns about them. */
export function newRequests({ service, old, wanted, before }: Reviewed, policy: Policy): Requests {
  // The Service was another program's, so its requests were not checked as ours.
  const isReturned = old && isOptedOut(old, policy) && !isOptedOut(service, policy)
  const stored = old && before && !isReturned ? requestsOf(before, { service: old, old }, policy) : none
  return added(requestsOf(wanted, { service, old }, policy), stored)
}

/**
 * The requests that an update adds to a Service that is being deleted. No mutating webhook restores the annotation that
 * calls an address ours, so it does not count here.
 */
export function requestsInDeletion({ service, old, wanted, before }: Reviewed, policy: Policy): Requests {
  const requests = (one: Service, { kind }: Want) =>
    one.spec.type === 'LoadBalancer' && kind !== 'ignored' && hasClass(one, policy.classes)
      ? ownRequests(one, null, policy)
      : none
  return added(requests(service, wanted), old && before ? requests(old, before) : none)
}

function requestsOf(wanted: Want, { service, old }: Pick<Reviewed, 'service' | 'old'>, policy: Policy): Requests {
  // Software of a class that we do not serve is not ours to judge.
  if (!hasClass(service, policy.classes)) return none
  if (isOptedOut(service, policy)) return withoutUnspecified(ownRequests(service, old, policy))
  // Announcing software reads every request of the Service, even those that we ignore, and whatever else is wrong.
  return ['own', 'wrong', 'foreign'].includes(wanted.kind) ? ownRequests(service, old, policy) : none
}

/** For these, kube-vip asks a DHCP server, which assigns no address that is in use. */
const unspecified = ['0.0.0.0', '::']

function withoutUnspecified({ addresses, mistakes }: Requests): Requests {
  return { addresses: addresses.filter(({ address }) => !unspecified.includes(address)), mistakes }
}

function isOptedOut(service: Service, policy: Policy): boolean {
  return service.spec.type === 'LoadBalancer' && optOutAnnotation(service, policy) !== undefined
}

function added(now: Requests, { addresses, mistakes }: Requests): Requests {
  const known = addresses.map(({ address }) => address)
  return {
    addresses: now.addresses.filter(({ address }) => !known.includes(address)),
    mistakes: now.mistakes.filter((mistake) => !mistakes.includes(mistake)),
  }
}
