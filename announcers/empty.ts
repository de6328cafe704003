import { isQualifiedName } from '../lib/names.ts'
import type { Reading } from '../settings/setting.ts'
import type { Announcer } from './announcer.ts'
import type { LoadBalancer, LoadBalancerDialect, Parts } from './setting.ts'
import type { Software } from './software.ts'

/** No software that we know announces, so we write the status of a Service ourselves. */
export const emptySoftware: Software<'empty'> = {
  schemes: {
    empty: {
      written: 'empty://[?ip-annotation=name]',
      meaning:
        'Other software, or none. eip-admission writes the address and the status of the Service, and BGP peers on nodes.',
      parameters: ['ip-annotation'],
      depth: 0,
      read: readEmpty,
    },
  },
  kinds: ['empty'],
  requests: ({ ipAnnotation }) => ({
    annotations: ipAnnotation === undefined ? [] : [ipAnnotation],
    besideSpec: true,
    ...(ipAnnotation !== undefined && { written: [ipAnnotation] }),
  }),
  // A program that reads the annotation expects a single address.
  announcesBoth: ({ ipAnnotation }) => ipAnnotation === undefined,
  announcer: ({ ipAnnotation }) => empty({ ipAnnotation }),
}

/**
 * Makes the announcer for no known software: the Service shows its address in its status, and in the configured
 * annotation.
 */
export function empty(options: { ipAnnotation?: string | undefined } = {}): Announcer {
  const { ipAnnotation } = options
  return {
    name: 'empty',
    request: (address) => ({ status: { loadBalancer: { ingress: [{ ip: address }] } } }),
    // A user's program may read the annotation and announce the address.
    ...(ipAnnotation !== undefined && { withdrawal: { annotations: { [ipAnnotation]: null }, clearsStatus: false } }),
  }
}

function readEmpty({ parameters }: Parts, dialect: LoadBalancerDialect): Reading<LoadBalancer> {
  const ipAnnotation = parameters['ip-annotation'] ?? dialect.ipAnnotation
  if (ipAnnotation !== undefined && !isQualifiedName(ipAnnotation)) return { right: 'ip-annotation=example.com/name' }
  return { value: { kind: 'empty', ipAnnotation } }
}
