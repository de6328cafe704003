import type { Announcer } from './announcer.ts'

/** No announcing software: the Service shows its address in its status, and in an annotation if one is configured. */
export function empty(options: { ipAnnotation?: string | undefined } = {}): Announcer {
  const { ipAnnotation } = options
  return {
    name: 'empty',
    request: (address) => ({
      annotations: ipAnnotation === undefined ? {} : { [ipAnnotation]: address },
      status: { loadBalancer: { ingress: [{ ip: address }] } },
    }),
    // A program of the user may read the annotation and announce its address.
    ...(ipAnnotation !== undefined && { withdrawal: { annotations: { [ipAnnotation]: null }, clearsStatus: false } }),
  }
}
