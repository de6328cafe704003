import { type Service, keyOf } from '../../kube/objects.ts'
import type { RequestAnnotations } from '../../settings/service-policy.ts'

/** The annotations that we keep on a Service with an address. `users` are the Services that use the address. */
export function keptAnnotations(
  service: Service,
  { written = [], sharingKey }: Pick<RequestAnnotations, 'written' | 'sharingKey'>,
  { address, users }: { address: string; users: readonly Service[] },
): Record<string, string> {
  const values = written.map((name): [string, string] => [name, address])
  if (sharingKey !== undefined) values.push([sharingKey, sharedKey(service, sharingKey, { address, users })])
  return Object.fromEntries(values)
}

/**
 * The key by which a Service shares its address. Its user's comes first, then that of another Service of its namespace that
 * has the address. Without either it is the address. So all of them have one key, and what a manifest says stays.
 */
function sharedKey(
  service: Service,
  annotation: string,
  { address, users }: { address: string; users: readonly Service[] },
): string {
  const own = usersKey(service, annotation, address)
  if (own !== undefined) return own
  const others = users.filter(
    (other) => other.metadata.namespace === service.metadata.namespace && keyOf(other) !== keyOf(service),
  )
  const keys = others.flatMap((other) => usersKey(other, annotation, address) ?? [])
  return keys.toSorted()[0] ?? address
}

/** Every other key than the address is a user's. */
function usersKey({ metadata }: Service, annotation: string, address: string): string | undefined {
  const key = metadata.annotations?.[annotation]
  return key && key !== address ? key : undefined
}
