import { type Service, keyOf } from '../../kube/objects.ts'
import { quote } from '../../lib/text.ts'
import { statusAddresses } from '../record/shown.ts'
import { addressAnnotation } from '../record/names.ts'
import type { RequestAnnotations } from '../../settings/service-policy.ts'

/** The annotations that we maintain on a Service with an address. `users` are the Services that use the address. */
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
 * The key by which a Service shares its address. It is its user's, else the key of another Service of its namespace
 * with that address, else the address. So all of them have the same key, and a manifest's key stays.
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

/**
 * Why a Service without an address cannot rely on its user's sharing key. Another Service of its namespace has that
 * key, and each would get its own address. Undefined if no other Service has it.
 */
export function sharingProblem(
  service: Service,
  others: readonly Service[],
  { sharingKey, annotations: [request = ''] }: Pick<RequestAnnotations, 'sharingKey' | 'annotations'>,
): string | undefined {
  const key = sharingKey === undefined ? undefined : service.metadata.annotations?.[sharingKey]
  if (!sharingKey || !key) return undefined
  const { namespace } = service.metadata
  const sharing = others.find(
    (other) =>
      other.metadata.namespace === namespace &&
      other.metadata.name !== service.metadata.name &&
      other.spec.type === 'LoadBalancer' &&
      other.metadata.annotations?.[sharingKey] === key,
  )
  if (!sharing) return undefined
  const address = statusAddresses(sharing)[0] ?? sharing.metadata.annotations?.[addressAnnotation]
  const its = address === undefined ? 'the address of that Service when it has one' : quote(address)
  return (
    `annotation ${sharingKey}: ${quote(key)} is also that of Service ${keyOf(sharing)}, and alone would not share its address: ` +
    `add annotation ${request} with ${its}, or remove this key`
  )
}

/** Any key other than the address is a user's. */
function usersKey({ metadata }: Service, annotation: string, address: string): string | undefined {
  const key = metadata.annotations?.[annotation]
  return key && key !== address ? key : undefined
}
