import jsonPatch from 'fast-json-patch'
import { managersOf } from '../kube/managed-fields.ts'
import { lastAppliedAnnotation, type Service } from '../kube/objects.ts'
import type { Operation } from './webhook.ts'
import { addressAnnotation, serviceFieldManager, serviceFinalizer } from '../ledger/record/names.ts'
import { annotationsRequesting, outdatedRequestAnnotations, keptAnnotations } from '../ledger/want/own-address.ts'
import type { Policy } from '../settings/service-policy.ts'
import { annotatedAddress } from './service-rules.ts'
import { quote } from '../lib/text.ts'

/** The wanted fields of a Service. An absent field is kept; `undefined` removes it. */
export type ServiceChange = {
  name?: string
  finalizer?: string
  annotations?: Record<string, string | undefined>
  loadBalancerIP?: string | undefined
}

/** The smallest patch that makes a change; empty if the Service already matches. */
export function servicePatch(service: Service, change: ServiceChange): Operation[] {
  // The comparison is cheap: it skips the unchanged parts, which both sides share.
  return jsonPatch.compare(service, changedService(service, change)) as Operation[]
}

/** A copy with the change. The request's object is never modified: compared with itself, it would yield an empty patch. */
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

/** The facts that decide the annotations of a Service with an address: settings, and the Services that use it. */
export type PatchFacts = { policy: Policy; users: (address: string) => readonly Service[] }

/** The patch that stores a Service with its address, or without one while the address is pending. */
export function addressPatch(
  service: Service,
  { address, name = service.metadata.name }: { address: string | undefined; name?: string },
  { policy: { requestAnnotations }, users }: PatchFacts,
): Operation[] {
  const outdated = outdatedRequestAnnotations(service, requestAnnotations, address)
  const kept = (shown: string) => keptAnnotations(service, requestAnnotations, { address: shown, users: users(shown) })
  return servicePatch(service, {
    ...(name ? { name } : {}),
    finalizer: serviceFinalizer,
    // While our address is pending, no other may stay: software that reads the field would announce it.
    annotations: {
      ...removals(outdated),
      [addressAnnotation]: address,
      ...(address === undefined ? {} : kept(address)),
    },
    loadBalancerIP: address,
  })
}

/** The patch that stores a Service with its own address: our finalizer, and the annotations that we maintain. */
export function ownAddressPatch(service: Service, own: string, { policy, users }: PatchFacts): Operation[] {
  const kept = keptAnnotations(service, policy.requestAnnotations, { address: own, users: users(own) })
  return servicePatch(service, {
    finalizer: serviceFinalizer,
    annotations: { ...removals([addressAnnotation]), ...kept },
  })
}

/**
 * Warnings of the values that a user wrote in this update and that the patch removes, because the Service gets its
 * address by other means. A value that the stored Service already has is no news.
 */
export function removalWarnings(service: Service, old: Service | null, operations: Operation[]): string[] {
  const { annotations = {} } = service.metadata
  return Object.entries(annotations)
    .filter(([name, value]) => name !== addressAnnotation && old?.metadata.annotations?.[name] !== value)
    .filter(([name]) => operations.some(({ op, path }) => op === 'remove' && path === pathOfAnnotation(name)))
    .map(([name, value]) => `annotation ${name}: ${quote(value)} is removed: eip-admission requests the address itself`)
}

/** Warnings of pools that a user newly chose: the announcing software refuses our address in another pool. */
export function poolWarnings(service: Service, old: Service | null, { requestAnnotations }: Policy): string[] {
  const { annotations = {} } = service.metadata
  return (requestAnnotations.pools ?? [])
    .filter((name) => annotations[name] && old?.metadata.annotations?.[name] !== annotations[name])
    .map(
      (name) =>
        `annotation ${name}: ${quote(annotations[name] ?? '')} chooses a pool, but eip-admission makes one for each ` +
        'address: the announcing software would refuse the address, and the Service would stay pending; remove the annotation',
    )
}

function pathOfAnnotation(name: string): string {
  return `/metadata/annotations/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/**
 * The change that removes our address from a Service that no longer wants one. The API server keeps spec.loadBalancerIP
 * when the type changes. So if the Service became a LoadBalancer again, the address would look like the user's own.
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

/** Whether a stored Service requests an address as its own. An update cannot make it ours by calling it so. */
function isOwnOf(old: Service | null, address: string, { requestAnnotations }: Policy): boolean {
  if (!old || old.metadata.annotations?.[addressAnnotation] !== undefined) return false
  return old.spec.loadBalancerIP === address || annotationsRequesting(old, requestAnnotations, address).length > 0
}

/**
 * The Service without the request annotations that we wrote for a user-chosen address, if the update removed that address from
 * the spec. A user who wants to keep it adds a request, because `spec.loadBalancerIP` is deprecated.
 */
export function withoutOutdatedRequests(
  service: Service,
  old: Service | null,
  { requestAnnotations }: Policy,
): Service {
  const removed = old?.spec.loadBalancerIP
  if (!removed || service.spec.loadBalancerIP) return service
  const requests = annotationsRequesting(service, requestAnnotations, removed)
  const outdated = removals(requests.filter((name) => !isUsers(name, { service, old })))
  const annotations = { ...service.metadata.annotations, ...outdated } as Record<string, string>
  return { ...service, metadata: { ...service.metadata, annotations } }
}

/**
 * Whether a user wrote an annotation that the stored Service may have from us. The managed fields do not show a user
 * who only repeats its value. But then either the applied manifest contains it, or a manifest replaces the whole
 * Service, so our finalizer is missing too.
 */
function isUsers(name: string, { service, old }: { service: Service; old: Service }): boolean {
  const { managedFields, annotations = {}, finalizers = [] } = service.metadata
  const isWhole = old.metadata.finalizers?.includes(serviceFinalizer) && !finalizers.includes(serviceFinalizer)
  if (!managedFields || isWhole) return true
  if (annotations[lastAppliedAnnotation]?.includes(JSON.stringify(name))) return true
  return managersOf(managedFields, ['metadata', 'annotations', name]).some((manager) => manager !== serviceFieldManager)
}

function removals(annotations: string[]): Record<string, undefined> {
  return Object.fromEntries(annotations.map((name) => [name, undefined]))
}

/** Whether all these Services show an address as ours, so that an update has nothing to restore. */
export function showAsOurs(services: (Service | null)[], address: string): boolean {
  return services.every((service) => {
    const { spec, metadata } = service ?? {}
    return spec?.loadBalancerIP === address && metadata?.annotations?.[addressAnnotation] === address
  })
}

/**
 * The change for an update that would bring back an address which the ledger no longer holds for the Service. The
 * controller removes that address in the proper order. `held` is the address that the ledger holds now. Only we write
 * the annotation. Without it, `spec.loadBalancerIP` would look like the user's own address.
 */
export function withoutLostAddress(
  { metadata, spec }: Service,
  { lost, held }: { lost: string; held: string | undefined },
): ServiceChange {
  const annotated = metadata.annotations?.[addressAnnotation]
  const isOurs = annotated === undefined ? spec.loadBalancerIP === undefined : [lost, held].includes(annotated)
  return {
    finalizer: serviceFinalizer,
    ...(isOurs ? {} : { annotations: { [addressAnnotation]: lost } }),
    ...(spec.loadBalancerIP === lost ? { loadBalancerIP: undefined } : {}),
  }
}
