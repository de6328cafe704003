import type { KubeObject } from '../../kube/objects.ts'
import { withoutClass } from '../../settings/service-policy.ts'
import { isControllers, isIPPool } from './resources.ts'

/** The IPPool by which Calico itself writes the status of Services, as we do; undefined where it does not. */
export function poolOfStatuses(existing: readonly KubeObject[]): string | undefined {
  // An environment variable can start the controller too, so only what it says of itself counts.
  const running = existing.find(isControllers)?.status?.runningConfig?.controllers
  if (running && !running.loadBalancer) return undefined
  return existing.filter(isIPPool).find(({ spec }) => spec?.allowedUses?.includes('LoadBalancer'))?.metadata.name
}

/**
 * Whether Calico writes the status of Services of a class, where it has a pool. Its setting RequestedServicesOnly changes
 * nothing. From 3.33 on the address in the spec is a request, and Calico empties the status where it cannot grant it.
 */
export function isClassOfCalico(name: string = withoutClass): boolean {
  return name === withoutClass || name === 'calico'
}
