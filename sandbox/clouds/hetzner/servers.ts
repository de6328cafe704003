import { type Image, type ServerType, images, serverTypes } from './catalogue.ts'
import { type Location, locations } from './locations.ts'
import type { Labels } from './labels.ts'
import type { Server, State } from './state.ts'

export type ServerOrder = {
  project: number
  name: string
  type?: ServerType
  image?: Image
  location?: Location | undefined
  labels?: Labels
  /** Whether it has a Primary IPv4 address, as most servers do. */
  hasIpv4?: boolean
}

/** Adds a server that runs. */
export function addServer(state: State, order: ServerOrder): Server {
  const { project, name, labels = {}, hasIpv4 = true } = order
  const [type] = serverTypes
  const [image] = images
  const [place] = locations
  if (!type || !image || !place) throw new Error('the catalogue is empty')
  const server: Server = {
    id: state.newId(),
    project,
    name,
    status: 'running',
    type: order.type ?? type,
    image: order.image ?? image,
    location: order.location ?? place,
    labels,
    ipv4: hasIpv4 ? state.newIpv4('own')?.ip : undefined,
    ipv6: state.newIpv6(),
    privateNet: { network: 7, ip: state.newPrivateIp() },
    protection: { delete: false, rebuild: false },
    createdAtMs: state.now(),
  }
  state.servers.set(server.id, server)
  return server
}

/** Removes a server. Its floating IPs stay, unassigned. */
export function removeServer(state: State, server: Server): void {
  state.servers.delete(server.id)
  for (const ip of state.floatingIps.values()) if (ip.server === server) ip.server = undefined
}
