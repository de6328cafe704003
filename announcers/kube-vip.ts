import type { Announcer } from './announcer.ts'
import { kubeVipRequestAnnotation } from './request-annotations.ts'

/**
 * kube-vip reads its BGP peers from annotations of its node, and the address from the Service. We never write the status:
 * kube-vip writes it with ports, and starts over with a Service whose status another program wrote.
 */
export function kubeVip(): Announcer {
  return {
    name: 'kube-vip',
    // kube-vip would read an empty annotation as a host name.
    request: (address) => ({ annotations: address === '' ? {} : { [kubeVipRequestAnnotation]: address } }),
    // Without the annotation kube-vip reads the address from the status, which it never clears.
    withdrawal: { annotations: { [kubeVipRequestAnnotation]: null }, clearsStatus: false },
    // Its source shows: it withdraws a route when the Service is deleted or changes its type, and not before.
    withdrawsOnlyOnDeletion: true,
  }
}
