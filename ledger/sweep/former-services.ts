import type { Reservation, MarkScheme } from '../../clouds/ports/cloud.ts'
import type { Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { ownerMark, serviceMarks } from '../record/marks.ts'
import type { Want } from '../want/want.ts'

/**
 * The Services that want no address any more, but still name the address that a reservation's marks reserve for them.
 * Once the reservation is gone, that address would look like the user's own if the Service became a LoadBalancer again.
 */
export function formerServices(
  { address, marks }: Reservation,
  { services, scheme }: { services: { service: Service; wanted: Want }[]; scheme: MarkScheme },
): Service[] {
  const owner = ownerMark(marks)
  if (address === undefined || owner === undefined) return []
  return services
    .filter(({ service, wanted }) => wanted.kind === 'nothing' && service.spec.loadBalancerIP === address)
    .map(({ service }) => service)
    .filter((service) => ownerMark(serviceMarks(scheme, keyOf(service))) === owner)
}
