import type { Service } from '../../kube/objects.ts'
import type { ReclaimPolicy } from '../record/elastic-ip.ts'
import { reclaimAnnotation } from '../record/names.ts'
import type { ValuePolicy } from '../../settings/service-policy.ts'

/** What a Service's annotation says about its address; undefined if it says nothing, or nothing that is allowed. */
export function annotatedReclaimPolicy({ metadata }: Service, policy: ValuePolicy): ReclaimPolicy | undefined {
  const value = metadata.annotations?.[reclaimAnnotation]
  if (value === 'Retain') return isRetainForbidden(value, policy) ? undefined : value
  return value === 'Delete' ? value : undefined
}

/** Whether an annotation asks to retain an address, and none may. */
export function isRetainForbidden(value: string | undefined, { reclaimPolicy, allowRetain }: ValuePolicy): boolean {
  return value === 'Retain' && value !== reclaimPolicy && !allowRetain
}
