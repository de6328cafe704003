import type { Service } from '../../kube/objects.ts'
import type { ReclaimPolicy } from '../record/elastic-ip.ts'
import { protectAnnotation, reclaimAnnotation } from '../record/names.ts'
import type { ValuePolicy } from '../../settings/service-policy.ts'

/** The reclaim policy in a Service's annotation; undefined if it has none, or one that is not allowed. */
export function annotatedReclaimPolicy({ metadata }: Service, policy: ValuePolicy): ReclaimPolicy | undefined {
  const value = metadata.annotations?.[reclaimAnnotation]
  if (value === 'Retain') return isRetainForbidden(value, policy) ? undefined : value
  return value === 'Delete' ? value : undefined
}

/** The same for an address that its Service gives up. A protected Service whose give-up bypassed admission retains it. */
export function finalReclaimPolicy(service: Service, policy: ValuePolicy): ReclaimPolicy | undefined {
  return isKeptByProtection(service, policy) ? 'Retain' : annotatedReclaimPolicy(service, policy)
}

/** Whether protection retains the address. If users may not request Retain, protection does not let them do so either. */
export function isKeptByProtection(service: Service, policy: ValuePolicy): boolean {
  return hasProtection(service) && !isRetainForbidden('Retain', policy)
}

/** Whether a Service has the annotation that protects its address. */
export function hasProtection({ metadata }: Service): boolean {
  return metadata.annotations?.[protectAnnotation] === 'true'
}

/** Whether an annotation requests Retain although that is not allowed. */
export function isRetainForbidden(value: string | undefined, { reclaimPolicy, allowRetain }: ValuePolicy): boolean {
  return value === 'Retain' && value !== reclaimPolicy && !allowRetain
}
