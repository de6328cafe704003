import { href } from './hrefs.ts'
import type { View } from './includes.ts'
import { stableId } from './locations.ts'
import type { Json } from '../control.ts'
import { renderAssignment, renderFacility, renderMetro, renderProject } from './render.ts'
import { type Device, type State, assignmentsOf } from './state.ts'

/** Renders a device: plan, metro, facility and addresses in full unless excluded. */
export function renderDevice(state: State, device: Device, view: View): Json {
  const { id, plan, project } = device
  return {
    id,
    short_id: id.slice(0, 8),
    hostname: device.hostname,
    state: device.state,
    ...device.settings,
    user: 'root',
    ...rootPasswordOf(state, device),
    switch_uuid: stableId(`switch ${device.facility.code}`).slice(0, 8),
    ...(device.spotPriceMax !== undefined && { spot_price_max: device.spotPriceMax }),
    actions: actionsOf(device),
    bonding_mode: 4,
    iqn: `iqn.${device.createdAt.slice(0, 7)}.net.packet:device.${id.slice(0, 8)}`,
    created_at: device.createdAt,
    updated_at: device.updatedAt,
    plan: view.isFull('plan', true) ? plan : href('plans', plan.id),
    operating_system: renderOperatingSystem(device.operatingSystem),
    metro: renderMetro(device.metro, view),
    facility: renderFacility(device.facility, view),
    ip_addresses: assignmentsOf(state, device).map((one) =>
      view.isFull('ip_addresses', true) ? renderAssignment(state, one, view.into('ip_addresses')) : href('ips', one.id),
    ),
    network_ports: portsOf(device),
    ssh_keys: device.sshKeys.map((key) => href('ssh-keys', key.id)),
    volumes: [],
    ...(device.hardwareReservation && {
      hardware_reservation: href('hardware-reservations', device.hardwareReservation),
    }),
    ...(device.terminationTime && { termination_time: device.terminationTime }),
    project: renderProject(project, view),
    project_lite: href('projects', project.id),
    ...href('devices', id),
  }
}

const dayMs = 24 * 3600 * 1000

/** Renders the password of the user `root`, which the vendor removes a day after the installation. */
function rootPasswordOf(state: State, { id, deployedAtMs }: Device): Json {
  return state.now() - deployedAtMs < dayMs ? { root_password: `root-s3cret-${id.slice(0, 8)}` } : {}
}

function actionsOf({ state }: Device): Json[] {
  const types = state === 'inactive' ? ['power_on', 'reinstall'] : ['power_off', 'reboot', 'rescue', 'reinstall']
  return types.map((type) => ({ type, name: type.replace('_', ' ') }))
}

/** Renders an operating system from its slug, such as `ubuntu_24_04`. */
export function renderOperatingSystem(slug: string): Json {
  const [distro = slug, ...version] = slug.split('_')
  const name = [distro.charAt(0).toUpperCase() + distro.slice(1), version.join('.')].join(' ').trim()
  return { id: stableId(`operating system ${slug}`), slug, name, distro, version: version.join('.') }
}

function portsOf({ id, mac }: Device): Json[] {
  const bond = { id: stableId(`${id} bond0`), name: 'bond0' }
  const ethernet = ['eth0', 'eth1'].map((name) => ({
    id: stableId(`${id} ${name}`),
    type: 'NetworkPort',
    name,
    data: { mac: macOf(mac, name), bonded: true },
    bond,
    ...href('ports', stableId(`${id} ${name}`)),
  }))
  const bonded = { ...bond, type: 'NetworkBondPort', network_type: 'layer3', data: { bonded: true } }
  return [{ ...bonded, ...href('ports', bond.id) }, ...ethernet]
}

/** Returns the MAC address of a port; the second port differs from the first in one bit. */
export function macOf(mac: string, port: string): string {
  return port === 'eth1' ? mac.replace(/^02/, '06') : mac
}
