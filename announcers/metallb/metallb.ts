import type { Announcer } from '../announcer.ts'
import { unusedPoolName } from './unused-pool-name.ts'
import { metallbPoolAnnotations } from '../request-annotations.ts'

/** MetalLB, configured by what its version reads. It writes the status of a Service itself. */
export function metallb(configuration: NonNullable<Announcer['configuration']>): Announcer {
  return {
    name: 'metallb',
    // spec.loadBalancerIP is a request already, and MetalLB refuses a Service with two.
    request: () => ({ annotations: {} }),
    // MetalLB up to 0.14.1 refuses a configuration that lacks an address in use: the Service must release the address
    // before its pool is removed. Every version knows the first name. From 0.14.9 on the second one has precedence, which
    // a user may have set.
    withdrawal: {
      annotations: Object.fromEntries(metallbPoolAnnotations.map((name) => [name, unusedPoolName])),
      clearsStatus: true,
    },
    configuration,
  }
}
