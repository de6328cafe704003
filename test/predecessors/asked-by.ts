import type { Service } from '../../kube/objects.ts'

/** Where Cherry Servers' program writes the address, for MetalLB and for no software that it knows. */
const annotationNames = ['metallb.io/loadBalancerIPs', 'cherryservers.com/loadBalancerIPs']

/** The address that a Service requests, wherever its predecessor or ours wrote it. */
export function askedBy(service: Service | undefined): string | undefined {
  const { annotations = {} } = service?.metadata ?? {}
  return service?.spec.loadBalancerIP ?? annotationNames.map((name) => annotations[name]).find(Boolean)
}
