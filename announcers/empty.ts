import type { Announcer } from './announcer.ts'

/** No announcing software: the Service shows its address, in its status and in an annotation where one is named. */
export function empty(options: { ipAnnotation?: string | undefined } = {}): Announcer {
  const { ipAnnotation } = options
  return {
    name: 'empty',
    request: (address) => ({
      annotations: ipAnnotation === undefined ? {} : { [ipAnnotation]: address },
      status: { loadBalancer: { ingress: [{ ip: address }] } },
    }),
    // Who reads the annotation announces what it says.
    ...(ipAnnotation !== undefined && { withdrawal: { annotations: { [ipAnnotation]: null }, clearsStatus: false } }),
  }
}
