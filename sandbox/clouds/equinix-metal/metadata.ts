import { neighborsOf } from './bgp-neighbors.ts'
import { plain } from './includes.ts'
import type { Json } from '../control.ts'
import { renderAssignment, renderParentBlock } from './render.ts'
import { macOf, renderOperatingSystem } from './render-device.ts'
import { type Assignment, type Device, type State, assignmentsOf } from './state.ts'

/** Returns a server's metadata: locations and plan are bare codes, and hrefs have no `/metal/v1`. */
export function metadataOf(state: State, device: Device): Json {
  const neighbors = neighborsOf(state, device)
  return {
    id: device.id,
    hostname: device.hostname,
    iqn: `iqn.${device.createdAt.slice(0, 7)}.net.packet:device.${device.id.slice(0, 8)}`,
    operating_system: renderOperatingSystem(device.operatingSystem),
    plan: device.plan.slug,
    class: device.plan.class,
    reserved: device.hardwareReservation !== undefined,
    facility: device.facility.code,
    metro: device.metro.code,
    state: device.state,
    private_subnets: ['10.0.0.0/8'],
    tags: device.settings.tags,
    ssh_keys: [],
    customdata: device.settings.customdata,
    network: networkOf(state, device),
    // Absent until there is a session; scripts wait until it appears.
    ...(neighbors.length > 0 && { bgp_neighbors: neighbors }),
    api_url: 'https://metadata.packet.net',
  }
}

function networkOf(state: State, device: Device): Json {
  const mac = (name: string) => macOf(device.mac, name)
  return {
    bonding: { mode: 4, link_aggregation: 'mlag_ha', mac: mac('eth0') },
    interfaces: ['eth0', 'eth1'].map((name) => ({ name, mac: mac(name), bond: 'bond0' })),
    addresses: assignmentsOf(state, device).map((one) => addressOf(state, one)),
    metal_gateways: [],
  }
}

function addressOf(state: State, assignment: Assignment): Json {
  const { type: _type, metro: _metro, ...shown } = renderAssignment(state, assignment, plain)
  const { id, reservation, device } = assignment
  return {
    ...shown,
    assigned_to: { href: `/devices/${device.id}` },
    parent_block: { ...renderParentBlock(reservation), href: `/ips/${reservation.id}` },
    href: `/ips/${id}`,
  }
}
