import { type Service, ingressOf, keyOf } from '../../kube/objects.ts'
import { type Policy, hasClass } from '../../settings/service-policy.ts'

/** How a person turns load balancing on. */
export const howToTurnOn =
  'set --loadbalancer to the software that announces addresses, as `eip-admission serve --help` lists it'

/** Whether a Service gets no address because load balancing is off. Another program may serve it. */
export function isLeftOut(service: Service, policy: Policy): boolean {
  if (policy.loadBalancing || service.spec.type !== 'LoadBalancer') return false
  return !policy.excludedNamespaces.includes(service.metadata.namespace ?? '') && hasClass(service, policy.classes)
}

/** The notice about Services that wait although nothing will serve them; undefined if none waits. */
export function waitingReason(services: readonly Service[], policy: Policy): string | undefined {
  if (policy.loadBalancing) return undefined
  const waiting = services.filter((service) => isLeftOut(service, policy) && ingressOf(service).length === 0)
  const [first] = waiting
  if (!first) return undefined
  return `load balancing is off, and Services wait for an address: ${waiting.length}, such as ${keyOf(first)}; ${howToTurnOn}`
}
