import { isDeepStrictEqual } from 'node:util'
import type { Service } from '../kube/objects.ts'
import { addressAnnotation, serviceFinalizer } from '../ledger/record/names.ts'
import type { Want } from '../ledger/want/want.ts'
import type { ServiceChange } from './service-patch.ts'

/**
 * Whether an update changes what decides about the Service's address. Any other update passes at once, also while the
 * cloud refuses an address or does not answer: the controller claims it.
 */
export function touchesAddress(
  { service, old }: { service: Service; old: Service },
  { now, before }: { now: Want; before: Want },
): boolean {
  return !isDeepStrictEqual([now, ...addressFields(service)], [before, ...addressFields(old)])
}

/** The fields that show an address: no want has all of them. */
function addressFields({ metadata, spec }: Service): unknown[] {
  return [spec.type, spec.loadBalancerIP, metadata.annotations?.[addressAnnotation]]
}

/** Whether all these Services show an address as ours: an update then restores nothing. */
export function showAsOurs(services: (Service | null)[], address: string): boolean {
  return services.every((service) => {
    const { spec, metadata } = service ?? {}
    return spec?.loadBalancerIP === address && metadata?.annotations?.[addressAnnotation] === address
  })
}

/**
 * The change of an update that would bring back an address which the ledger no longer holds for the Service. The
 * controller takes that address away in order. `held` is the address that the ledger holds now. Only we write the
 * annotation, and without it `spec.loadBalancerIP` would look like the user's own address.
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
