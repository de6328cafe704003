import jsonPatch from 'fast-json-patch'
import type { Service } from '../kube/objects.ts'
import type { Operation } from './webhook.ts'
import { addressAnnotation, serviceFinalizer } from '../ledger/record/names.ts'
import { annotationsRequesting, outdatedRequestAnnotations } from '../ledger/want/own-address.ts'
import type { Policy } from '../settings/service-policy.ts'
import { annotatedAddress } from './service-rules.ts'

/** What a Service shall have. An absent field stays as it is; `undefined` removes it. */
export type ServiceChange = {
  name?: string
  finalizer?: string
  annotations?: Record<string, string | undefined>
  loadBalancerIP?: string | undefined
}

/** The smallest patch that makes a change; empty if the Service is so already. */
export function servicePatch(service: Service, change: ServiceChange): Operation[] {
  // The comparison is cheap: both sides share the parts that do not change, and it skips these.
  return jsonPatch.compare(service, changedService(service, change)) as Operation[]
}

/** A copy with the change. The request's object is never modified: compared with itself it would yield an empty patch. */
function changedService(service: Service, change: ServiceChange): object {
  const { metadata, spec } = service
  const { name = metadata.name, finalizer, annotations = {} } = change
  const { loadBalancerIP } = 'loadBalancerIP' in change ? change : spec
  const { finalizers = [] } = metadata
  const lacksFinalizer = finalizer !== undefined && !finalizers.includes(finalizer)
  const hasAnnotations = metadata.annotations || Object.values(annotations).some((value) => value !== undefined)
  return {
    ...service,
    metadata: {
      ...metadata,
      name,
      ...(lacksFinalizer ? { finalizers: [...finalizers, finalizer] } : {}),
      ...(hasAnnotations ? { annotations: { ...metadata.annotations, ...annotations } } : {}),
    },
    spec: { ...spec, loadBalancerIP },
  }
}

/** The patch that stores a Service with its address, or without one while the address is pending. */
export function addressPatch(
  service: Service,
  { address, name = service.metadata.name }: { address: string | undefined; name?: string },
  { requestAnnotations }: Policy,
): Operation[] {
  const outdated = outdatedRequestAnnotations(service, requestAnnotations, address)
  return servicePatch(service, {
    ...(name ? { name } : {}),
    finalizer: serviceFinalizer,
    // While ours is pending, no other address may stay: software that reads the field would announce it.
    annotations: { ...removals(outdated), [addressAnnotation]: address },
    loadBalancerIP: address,
  })
}

/**
 * The change that takes our address from a Service that no longer wants one. The API server keeps spec.loadBalancerIP when
 * the type changes: if the Service became a LoadBalancer again, the address would look like the user's own.
 */
export function withoutAddress(service: Service, old: Service | null, policy: Policy): ServiceChange {
  const shown = service.metadata.annotations?.[addressAnnotation] ?? annotatedAddress(old)
  if (shown === undefined) return {}
  if (isOwnOf(old, shown, policy)) return { annotations: removals([addressAnnotation]) }
  const requests = annotationsRequesting(service, policy.requestAnnotations, shown)
  const isInSpec = service.spec.loadBalancerIP === shown
  return {
    annotations: removals([addressAnnotation, ...requests]),
    ...(isInSpec ? { loadBalancerIP: undefined } : {}),
  }
}

/** Whether a stored Service requests an address as its own: an update that calls it ours does not make it ours. */
function isOwnOf(old: Service | null, address: string, { requestAnnotations }: Policy): boolean {
  if (!old || old.metadata.annotations?.[addressAnnotation] !== undefined) return false
  return old.spec.loadBalancerIP === address || annotationsRequesting(old, requestAnnotations, address).length > 0
}

/** The Service without the request annotations for an own address that the update removed from the spec. */
export function withoutOutdatedRequests(
  service: Service,
  old: Service | null,
  { requestAnnotations }: Policy,
): Service {
  const removed = old?.spec.loadBalancerIP
  if (!removed || service.spec.loadBalancerIP) return service
  const outdated = removals(annotationsRequesting(service, requestAnnotations, removed))
  const annotations = { ...service.metadata.annotations, ...outdated } as Record<string, string>
  return { ...service, metadata: { ...service.metadata, annotations } }
}

/** Annotations to remove. */
export function removals(annotations: string[]): Record<string, undefined> {
  return Object.fromEntries(annotations.map((name) => [name, undefined]))
}
