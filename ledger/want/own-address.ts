import { type Service, keyOf } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { quote } from '../../lib/text.ts'
import { addressAnnotation } from '../record/names.ts'
import type { RequestAnnotations } from '../../settings/service-policy.ts'
import { statusAddresses } from '../record/address-use.ts'

/** An address that a user wrote on a Service, and where. */
export type OwnAddress = { address: string; where: string }

const specField = 'spec.loadBalancerIP'

/** The user-chosen address of a Service and where its user wrote it. An address that we wrote is not user-chosen. */
export function ownAddress(service: Service, requestAnnotations: RequestAnnotations): OwnAddress | undefined {
  return ownAddresses(service, requestAnnotations)[0]
}

/** Every own address of a Service; the first one applies. */
function ownAddresses(service: Service, requestAnnotations: RequestAnnotations): OwnAddress[] {
  const { loadBalancerIP: address = '' } = service.spec
  const requested = requestsOf(service, requestAnnotations).map(([name, value]) => ({
    address: value,
    where: `annotation ${name}`,
  }))
  const ours = service.metadata.annotations?.[addressAnnotation]
  return [{ address, where: specField }, ...requested].filter((own) => own.address && !isSameAddress(own.address, ours))
}

/** The addresses that a Service requests from the announcing software, in canonical form. */
export function requestedAddresses(service: Service, requestAnnotations: RequestAnnotations): OwnAddress[] {
  return requestedItems(service, requestAnnotations).flatMap(({ address: text, where }) => {
    const address = canonicalIpAddress(text)
    return address === undefined ? [] : [{ address, where }]
  })
}

/**
 * The requested items of a Service that are not addresses. Software may resolve them in the DNS, where a tenant can
 * name any address.
 */
export function requestMistakes(service: Service, requestAnnotations: RequestAnnotations): string[] {
  return requestedItems(service, requestAnnotations)
    .filter(({ address }) => canonicalIpAddress(address) === undefined)
    .map(notAddress)
}

/** The message that a text is not an IP address. */
export function notAddress({ address, where }: OwnAddress): string {
  return `${where}: ${quote(address)} is not an IP address`
}

function requestedItems(service: Service, requestAnnotations: RequestAnnotations): OwnAddress[] {
  return ownAddresses(service, requestAnnotations).flatMap(({ address: value, where }) =>
    // Only annotations are lists, and only a single value is limited in length.
    (where === specField ? [value] : value.split(','))
      .map((text) => ({ address: text.trim(), where }))
      .filter(({ address }) => address !== ''),
  )
}

/** Whether two texts are the same address: `2001:DB8::1` is `2001:db8::1`. */
function isSameAddress(one: string, other: string | undefined): boolean {
  const canonical = canonicalIpAddress(one)
  return one === other || (canonical !== undefined && canonical === canonicalIpAddress(other ?? ''))
}

/** The annotation by which a Service without our address requests several: we never reserve more than one. */
export function multipleAddressAnnotation(
  service: Service,
  requestAnnotations: RequestAnnotations,
): string | undefined {
  if (service.metadata.annotations?.[addressAnnotation] !== undefined) return undefined
  return requestsOf(service, requestAnnotations).find(([, value]) => value.includes(','))?.[0]
}

/** The request annotations that must not stay on a Service that gets this address, or a pending one (undefined). */
export function outdatedRequestAnnotations(
  service: Service,
  { besideSpec, ...requests }: RequestAnnotations,
  address: string | undefined,
): string[] {
  return requestsOf(service, requests)
    .filter(([, value]) => !(besideSpec && value === address))
    .map(([name]) => name)
}

/** The annotations by which a Service requests exactly this address. */
export function annotationsRequesting(
  service: Service,
  requestAnnotations: RequestAnnotations,
  address: string | undefined,
): string[] {
  return requestsOf(service, requestAnnotations)
    .filter(([, value]) => value === address)
    .map(([name]) => name)
}

/** The annotations by which a Service requests an address that it also requests in its spec. */
export function doubleRequests(service: Service, requestAnnotations: RequestAnnotations): string[] {
  return service.spec.loadBalancerIP ? requestsOf(service, requestAnnotations).map(([name]) => name) : []
}

function requestsOf(
  { metadata }: Service,
  { annotations: names, nothing }: Pick<RequestAnnotations, 'annotations' | 'nothing'>,
): [string, string][] {
  return names.flatMap((name): [string, string][] => {
    const value = metadata.annotations?.[name]
    return value && value !== nothing ? [[name, value]] : []
  })
}

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
