import { canonicalIpAddress } from '../../../lib/ip-address.ts'
import type { Balancer, BalancerPort, ListedBalancer, Origin } from '../../ports/balancers.ts'
import { countOf, type Fields, fieldsOf, itemsOf, textOf } from '../../http/loose-json.ts'
import { locationCode } from './locations.ts'

/** A named object in a response, balancer or pool; undefined if it has no id. */
export function parseNamed(body: unknown): ListedBalancer | undefined {
  const { id, name, created_at } = fieldsOf(body)
  const known = textOf(id)
  return known === undefined ? undefined : { id: known, name: textOf(name) ?? '', createdAt: textOf(created_at) }
}

/** The balancer in a response; undefined if it has no id. */
export function parseBalancer(body: unknown): Balancer | undefined {
  const named = parseNamed(body)
  if (!named) return undefined
  const { ips, location } = fieldsOf(body)
  const addresses = (itemsOf(ips) ?? []).flatMap((ip) => canonicalIpAddress(textOf(ip) ?? '') ?? [])
  return {
    ...named,
    location: locationCode(textOf(fieldsOf(location).id) ?? ''),
    addresses: [...new Set(addresses)].toSorted(),
    ports: parsePorts(fieldsOf(body)),
  }
}

/** The API returns the pools of all ports in a list of lists: the first list belongs to the first port. */
function parsePorts({ ports, pools }: Fields): BalancerPort[] {
  const listed = itemsOf(pools) ?? []
  return (itemsOf(ports) ?? []).map(fieldsOf).flatMap((port, n) => {
    const [id, number] = [textOf(port.id), countOf(port.number)]
    if (id === undefined || number === undefined) return []
    const attached = (itemsOf(listed[n]) ?? []).flatMap((pool) => textOf(fieldsOf(pool).id) ?? [])
    const named = (itemsOf(port.pool_ids) ?? []).flatMap((pool) => textOf(pool) ?? [])
    return { id, number, pools: [...new Set([...attached, ...named])] }
  })
}

/** The origin in a response; undefined if it has no id. */
export function parseOrigin(body: unknown): Origin | undefined {
  const { id, target, port_number } = fieldsOf(body)
  const known = textOf(id)
  if (known === undefined) return undefined
  const address = textOf(target) ?? ''
  return { id: known, address: canonicalIpAddress(address) ?? address, port: countOf(port_number) ?? 0 }
}
