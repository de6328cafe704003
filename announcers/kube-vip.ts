import type { Announcer } from './announcer.ts'
import { kubeVipRequestAnnotation } from './request-annotations.ts'

/**
 * kube-vip reads its BGP peers from annotations of its node, and the address from the Service. We never write the status:
 * kube-vip writes it with ports, and starts over with a Service whose status another program wrote.
 */
export function kubeVip(): Announcer {
  return {
    name: 'kube-vip',
    // spec.loadBalancerIP, which is stored with the Service, is request enough for every release. kube-vip 1.2 takes an
    // annotation that is added later for a change, and announces nothing for the Service until it is restarted.
    request: () => ({ annotations: {} }),
    // An annotation of a user or a predecessor, without which kube-vip reads the address from the status.
    withdrawal: { annotations: { [kubeVipRequestAnnotation]: null }, clearsStatus: false },
    // Measured with 0.8.10 and 1.2.3: it keeps a route when the type of the Service changes. 1.2.3 then announces nothing
    // for the Service, whatever becomes of it, until it is restarted.
    withdrawsOnlyOnDeletion: true,
  }
}
