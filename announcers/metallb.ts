import type { Announcer } from './announcer.ts'
import { noPool } from './metallb/no-pool.ts'
import { metallbPoolAnnotations } from './request-annotations.ts'

/** MetalLB, told what to announce by whatever its version reads. It writes the status of a Service itself. */
export function metallb(configuration: NonNullable<Announcer['configuration']>): Announcer {
  return {
    name: 'metallb',
    // spec.loadBalancerIP asks already, and MetalLB refuses a Service that asks twice.
    request: () => ({ annotations: {} }),
    // Up to 0.14.1 MetalLB takes no configuration that lacks an address in use: a Service lets go before its pool goes.
    // Every version knows the first name; from 0.14.9 on the second one counts, which a person may have used.
    withdrawal: {
      annotations: Object.fromEntries(metallbPoolAnnotations.map((name) => [name, noPool])),
      clearsStatus: true,
    },
    configuration,
  }
}
