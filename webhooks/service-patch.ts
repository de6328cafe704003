import jsonPatch from 'fast-json-patch'
import type { Service } from '../kube/objects.ts'
import type { Operation } from './decision.ts'

/** What a Service shall have. An absent field stays as it is; `undefined` removes it. */
export type ServiceChange = {
  name?: string
  finalizer?: string
  annotations?: Record<string, string | undefined>
  loadBalancerIP?: string | undefined
}

/** The smallest patch that makes a change; empty if the Service is so already. */
export function servicePatch(service: Service, change: ServiceChange): Operation[] {
  // The comparison is cheap: both sides share the parts that do not change, and it skips these.
  return jsonPatch.compare(service, changedService(service, change)) as Operation[]
}

/** A copy with the change. The request's object is never modified: compared with itself it would yield an empty patch. */
function changedService(service: Service, change: ServiceChange): object {
  const { metadata, spec } = service
  const { name = metadata.name, finalizer, annotations = {} } = change
  const { loadBalancerIP } = 'loadBalancerIP' in change ? change : spec
  const { finalizers = [] } = metadata
  const lacksFinalizer = finalizer !== undefined && !finalizers.includes(finalizer)
  const hasAnnotations = metadata.annotations || Object.values(annotations).some((value) => value !== undefined)
  return {
    ...service,
    metadata: {
      ...metadata,
      name,
      ...(lacksFinalizer ? { finalizers: [...finalizers, finalizer] } : {}),
      ...(hasAnnotations ? { annotations: { ...metadata.annotations, ...annotations } } : {}),
    },
    spec: { ...spec, loadBalancerIP },
  }
}
