import { type Key, type Service, keyOf, ingressOf } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { addressAnnotation } from '../record/names.ts'
import { ownAddress } from './own-address.ts'
import { type Policy, hasClass } from '../../settings/service-policy.ts'

/** The addresses that a Service shows in its status, in canonical text. */
export function statusAddresses(service: Pick<Service, 'status'>): string[] {
  return ingressOf(service).flatMap(({ ip }) => canonicalIpAddress(ip ?? '') ?? [])
}

/** The addresses that a Service shows, or requests of the software that we configure, in canonical text. */
export function usedAddresses(
  service: Service,
  { classes, requestAnnotations }: Pick<Policy, 'classes' | 'requestAnnotations'>,
): string[] {
  const { spec, metadata } = service
  const isRequest = spec.type === 'LoadBalancer' && hasClass(service, classes)
  const texts = isRequest
    ? [spec.loadBalancerIP, ownAddress(service, requestAnnotations)?.address, metadata.annotations?.[addressAnnotation]]
    : []
  const requested = texts.flatMap((text) => canonicalIpAddress(text ?? '') ?? [])
  return [...new Set([...statusAddresses(service), ...requested])]
}

/**
 * The Service of another namespace that used an address first. One that shows it in its status came before one that only
 * requests it, for tenants may not write that; otherwise the older one did.
 */
export function earlierUser(service: Service, address: string, users: readonly Service[]): Key | undefined {
  const others = users.filter(({ metadata }) => metadata.namespace !== service.metadata.namespace)
  const earlier = others.find((other) => compareUse(other, service, address) < 0)
  return earlier && keyOf(earlier)
}

function compareUse(one: Service, other: Service, address: string): number {
  const order = ({ metadata, status }: Service) => {
    const isShown = statusAddresses({ ...(status && { status }) }).includes(address)
    // A Service that is being created has no time yet.
    return `${isShown ? 0 : 1} ${metadata.creationTimestamp ?? '9'} ${metadata.namespace}/${metadata.name}`
  }
  return order(one) < order(other) ? -1 : 1
}
