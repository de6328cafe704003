import type { Service } from '../kube/objects.ts'
import { addressAnnotation, serviceFinalizer } from '../ledger/record/names.ts'
import { annotationsRequesting, outdatedRequestAnnotations } from '../ledger/want/own-address.ts'
import type { Policy } from '../settings/service-policy.ts'
import { type Decision, type Operation, allow, patch } from './decision.ts'
import { servicePatch } from './service-patch.ts'
import { shownAddress } from './service-rules.ts'

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
    annotations: { ...removals(outdated), ...(address === undefined ? {} : { [addressAnnotation]: address }) },
    // While ours is pending, no other address may stay: software that reads the field would announce it.
    loadBalancerIP: address,
  })
}

/**
 * Removes our address from a Service that no longer wants one. The API server keeps spec.loadBalancerIP when the type
 * changes: if the Service became a LoadBalancer again, the address would look like the user's own.
 */
export function removeAddress(service: Service, old: Service | null, { requestAnnotations }: Policy): Decision {
  const shown = service.metadata.annotations?.[addressAnnotation] ?? shownAddress(old)
  if (shown === undefined) return allow()
  const requests = annotationsRequesting(service, requestAnnotations, shown)
  const isInSpec = service.spec.loadBalancerIP === shown
  return patch(
    servicePatch(service, {
      annotations: removals([addressAnnotation, ...requests]),
      ...(isInSpec ? { loadBalancerIP: undefined } : {}),
    }),
  )
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
