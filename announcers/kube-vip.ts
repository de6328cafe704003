import type { Announcer } from './announcer.ts'
import { kubeVipRequestAnnotation } from './request-annotations.ts'

/**
 * kube-vip: it reads whom to speak with from annotations of its node, and the address from the Service. It writes the
 * status with ports, and starts anew with a Service whose status another program wrote: nobody else does.
 */
export function kubeVip(): Announcer {
  return {
    name: 'kube-vip',
    // An empty annotation would be read as a host name.
    request: (address) => ({ annotations: address === '' ? {} : { [kubeVipRequestAnnotation]: address } }),
    // Without the annotation it takes the address from the status, which it never clears.
    withdrawal: { annotations: { [kubeVipRequestAnnotation]: null }, clearsStatus: false },
    // By its source it withdraws a route when the Service is deleted or changes its type, and not before.
    withdrawsOnlyOnDeletion: true,
  }
}
