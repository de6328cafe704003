// Which addresses a Service shows or requests: each question has one answer here.
import type { Reservation } from '../../clouds/ports/cloud.ts'
import { type Service, ingressOf } from '../../kube/objects.ts'
import { type IpFamily, canonicalIpAddress, parseIpAddress } from '../../lib/ip-address.ts'
import type { ElasticIP } from './elastic-ip.ts'
import { addressAnnotation } from './names.ts'

/** The addresses and host names in the status of a Service. The API server itself adds ipMode, so it does not count. */
export function statusTexts(service: Pick<Service, 'status'>): string[] {
  return ingressOf(service).flatMap(({ ip, hostname }) => ip ?? hostname ?? [])
}

/** The addresses of a family in the status of a Service, as written there. */
export function statusTextsOf(service: Service, family: IpFamily): string[] {
  return ingressOf(service).flatMap(({ ip = '' }) => (parseIpAddress(ip)?.family === family ? [ip] : []))
}

/** Where a Service shows or requests an address. */
export type ShownAddress = { address: string; where: string }

export const statusField = 'status.loadBalancer'

/** The addresses that a Service shows in its status or requests anywhere, in canonical form. */
export function shownAddresses(service: Service, requestAnnotations: readonly string[]): ShownAddress[] {
  const { metadata, spec } = service
  const isRequest = spec.type === 'LoadBalancer' && metadata.deletionTimestamp === undefined
  const annotations = isRequest ? [addressAnnotation, ...requestAnnotations] : []
  const requested = annotations.flatMap((name) =>
    (metadata.annotations?.[name] ?? '').split(',').map((value) => [value.trim(), `annotation ${name}`] as const),
  )
  const inSpec = isRequest ? [[spec.loadBalancerIP, 'spec.loadBalancerIP'] as const] : []
  const inText = [...inSpec, ...requested].flatMap(([text, where]) => {
    const address = text ? canonicalIpAddress(text) : undefined
    return address === undefined ? [] : [{ address, where }]
  })
  return [...statusAddresses(service).map((address) => ({ address, where: statusField })), ...inText]
}

/** The addresses that a Service shows in its status, in canonical form. */
export function statusAddresses(service: Pick<Service, 'status'>): string[] {
  return ingressOf(service).flatMap(({ ip }) => canonicalIpAddress(ip ?? '') ?? [])
}

export type Shown = Pick<Service, 'status'> & { metadata?: Service['metadata'] }

/** Whether a Service shows an address in its status, where announcing software writes which address it took. */
export function showsAddress(service: Shown | undefined, address: string | undefined): boolean {
  const wanted = canonicalIpAddress(address ?? '')
  return service !== undefined && wanted !== undefined && statusAddresses(service).includes(wanted)
}

/** Whether a Service shows no address, so that it may be the one for which a predecessor reserved an address. */
export function showsNone(service: Service): boolean {
  return service.spec.loadBalancerIP === undefined && ingressOf(service).length === 0
}

/** Whether a Service shows the address of a reservation. */
export function isShownBy(
  service: Service,
  { address }: Pick<Reservation, 'address'>,
  requestAnnotations: readonly string[],
): boolean {
  const canonical = canonicalIpAddress(address ?? '')
  return shownAddresses(service, requestAnnotations).some((shown) => shown.address === canonical)
}

/** Finds the records of the addresses that a Service showed before a change, but not after it. */
export function recordsOfFreedAddresses(
  list: () => ElasticIP[],
  requestAnnotations: readonly string[],
): (current: Service | undefined, previous: Service | undefined) => ElasticIP[] {
  const addressesOf = (service: Service | undefined) =>
    new Set(service ? shownAddresses(service, requestAnnotations).map(({ address }) => address) : [])
  return (current, previous) => {
    const freed = addressesOf(previous).difference(addressesOf(current))
    if (freed.size === 0) return []
    return list().filter(({ status }) => freed.has(canonicalIpAddress(status?.address ?? '') ?? ''))
  }
}
