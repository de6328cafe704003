import type { Json } from '../control.ts'
import { regions } from './regions.ts'
import { type Ip, type Project, type Server, type State, floatingIn, ipsOf, primaryOf } from './state.ts'

/** Renders a project. */
export function renderProject({ id, name, bgp }: Project): Json {
  return { id, name, bgp: { enabled: bgp.enabled, local_asn: bgp.localAsn }, href: `/projects/${id}` }
}

/** Renders a project with its traffic, which only a request for this project shows. */
export function renderProjectWithTraffic(project: Project): Json {
  const group = regions.map(({ href, bgp }) => ({ href, bgp }))
  const traffic = { id: 'sandbox', name: 'All regions', used_bytes: 0, allowance_bytes: 0, limited_bytes: 0 }
  return { ...renderProject(project), traffic: [{ ...traffic, regions: group }] }
}

/** Renders an address; fields that are not set are absent. */
export function renderIp(state: State, ip: Ip): Json {
  const { server, target, host } = ip
  const route = target && primaryOf(state, target)
  const holder = server ?? target
  return {
    ...renderIpAlone(ip),
    region: ip.region,
    ...(route && { routed_to: renderIp(state, route) }),
    ...(server && { assigned_to: renderServerAlone(state, server) }),
    ...(holder && { targeted_to: renderServerAlone(state, holder) }),
    ...(ip.type === 'primary-ip' && {
      gateway: host.gateway,
      default_ptr_record: `${defaultRecord(host.address)}.`,
      default_a_record: `${defaultRecord(host.address)}.`,
      dns_resolvers: ['10.100.0.53', '10.100.0.54'],
    }),
    project: renderProject(ip.project),
  }
}

function renderIpAlone(ip: Ip): Json {
  const { id, type, host, aRecord } = ip
  const ptrRecord = ip.ptrRecord ?? (type === 'primary-ip' ? defaultRecord(host.address) : undefined)
  return {
    id,
    address: host.address,
    address_family: 4,
    cidr: host.cidr,
    type,
    ...(host.vlan !== undefined && { vlan_id: host.vlan }),
    ...(ptrRecord !== undefined && { ptr_record: ptrRecord }),
    ...(aRecord !== undefined && { a_record: aRecord }),
    ddos_scrubbing: false,
    tags: ip.tags,
    href: `/ips/${id}`,
  }
}

function defaultRecord(address: string): string {
  return `ip-${address.replaceAll('.', '-')}.002.ptr.cherryservers.net`
}

/** The price of every server: one hour, with tax. */
const pricing = {
  id: 37,
  currency: 'EUR',
  unit: 'Hours',
  unit_price: 0.05,
  discount: 0,
  discount_percentage: false,
  price_subtotal: 0.05,
  taxed: true,
  price_total: 0.06,
  price: 0.06,
  quantity: 1,
  billable_amount: 0.06,
}

/** Renders a server. */
export function renderServer(state: State, server: Server): Json {
  const { softwares: _, ...plan } = server.plan
  const { name, slug } = server.image
  return {
    ...renderServerAlone(state, server),
    plan,
    pricing,
    ip_addresses: ipsOf(state, server).map((ip) => renderIp(state, ip)),
    ssh_keys: server.sshKeys.map((id) => ({ id, href: `/ssh-keys/${id}` })),
    ...(plan.type === 'baremetal' && { vlan: 618 }),
    deployed_image: { name, slug },
  }
}

/** Renders a server without its addresses, as the answer to a change does. */
export function renderChangedServer(state: State, server: Server): Json {
  const { ip_addresses: _, ...shown } = renderServer(state, server)
  return shown
}

/** Renders a server inside another object: shorter, but with its secrets. Answers hide three of its fields. */
function renderServerAlone(state: State, server: Server): Json {
  const isVps = server.plan.type === 'vps'
  const speed = isVps ? 1000 : 3000
  return {
    id: server.id,
    name: server.name,
    href: `/servers/${server.id}`,
    hostname: server.hostname,
    image: server.image.name,
    spot_instance: server.spot,
    region: server.region,
    state: server.state,
    status: server.status,
    bgp: renderBgp(state, server),
    software: { addons: [] },
    tags: server.tags,
    termination_date: 'None',
    upgradable: isVps,
    created_at: timestamp(server.createdAtMs),
    traffic_used_bytes: 0,
    network: 'on',
    project: renderProject(server.project),
    ...(!isVps && { os_raid_level: 'Raid 1', os_disk: 'NVMe 1TB' }),
    bandwidth_speed_mbps: { limit: speed, maximum: speed },
    ...secretsOf(state, server),
  }
}

const dayMs = 24 * 3600 * 1000

/** Renders the secrets of a server, which the vendor removes a day after the deployment. */
function secretsOf(state: State, { id, plan, deployedAtMs, password }: Server): Json {
  if (state.now() - deployedAtMs >= dayMs) return {}
  if (plan.type === 'vps') return { username: 'root', password: password ?? `root-s3cret-${id}` }
  const expires = timestamp(deployedAtMs + dayMs)
  return { bmc: { user: 'admin', password: `bmc-s3cret-${id}`, ip: '10.99.0.1', allowed_ip: '192.0.2.1', expires } }
}

function renderBgp(state: State, { bgp, region, project }: Server): Json {
  const updated = timestamp(bgp.updatedMs)
  const none = { routers: 0, connected: 0, limit: 0, active: activeRoutes(state, 0), routes: [], updated }
  if (!bgp.enabled) return { enabled: false, available: false, status: 'Disabled', ...none }
  const routers = region.bgp.hosts.length
  const routes = bgp.routes.map(({ subnet, router, sinceMs }) => {
    const age = hoursMinutesSeconds(state.now() - sinceMs)
    return { subnet, active: true, router, age, updated: timestamp(sinceMs) }
  })
  return {
    enabled: true,
    available: bgp.connected > 0,
    status: sessionWord(bgp.connected, routers),
    routers,
    connected: bgp.connected,
    limit: floatingIn(state, project).filter((ip) => ip.region === region).length,
    active: activeRoutes(state, routes.length),
    routes,
    updated,
  }
}

function sessionWord(connected: number, routers: number): string {
  if (connected === 0) return 'Idle'
  return connected < routers ? 'Degraded' : 'Established'
}

function activeRoutes({ behaviour }: State, count: number): number | boolean {
  return behaviour.bgpActive === 'count' ? count : count > 0
}

function hoursMinutesSeconds(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
}

/** Renders a time as the vendor does, with seconds and an offset. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}+00:00`
}
