import type { Json } from '../control.ts'
import type { FlexibleIp, Server, State } from './state.ts'

/** The organization of every project here. */
const organization = '0a6f0000-0000-4000-8000-00000000000f'

/** The offer of every server. The vendor's CLI lists offers before it lists servers. */
export const offer = {
  id: 'd1a60000-0000-4000-8000-00000000000e',
  name: 'EM-B112X-SSD',
  stock: 'available',
  enable: true,
  commercial_range: 'beryllium',
  subscription_period: 'hourly',
  price_per_hour: { currency_code: 'EUR', units: 0, nanos: 166_000_000 },
  disks: [],
  cpus: [],
  memories: [],
  options: [],
  tags: [],
}

/** The API writes six or nine digits. */
const time = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z')

/** A flexible IP as the API shows it. */
export function renderFlexibleIp({ behaviour }: State, ip: FlexibleIp): Json {
  const isMoving = ip.status === 'updating' && ip.mac?.isReady !== false && behaviour.movingShows === 'nothing'
  return {
    id: ip.id,
    organization_id: organization,
    project_id: ip.project,
    description: ip.description,
    tags: ip.tags,
    created_at: time(ip.createdAtMs),
    updated_at: time(ip.updatedAtMs),
    status: ip.status,
    ip_address: ip.isIpv6 || behaviour.mask === 'none' ? ip.address : `${ip.address}/32`,
    mac_address: ip.mac ? renderMac(ip, ip.mac) : null,
    server_id: isMoving ? null : (ip.server?.id ?? null),
    reverse: ip.reverse ?? (ip.isIpv6 ? null : `${ip.address.replaceAll('.', '-')}.rev.poneytelecom.eu.`),
    zone: ip.zone,
  }
}

function renderMac({ id, zone }: FlexibleIp, { address, type, isReady }: NonNullable<FlexibleIp['mac']>): Json {
  return { id, mac_address: address, mac_type: type, status: isReady ? 'used' : 'updating', zone }
}

/** An Elastic Metal server as the API shows it. */
export function renderServer(state: State, server: Server): Json {
  const { id, zone, name } = server
  const attached = [...state.flexibleIps.values()].filter((ip) => ip.server === server && ip.status === 'attached')
  const shown = state.behaviour.serverShowsAddresses === 'at-once' ? attached : []
  return {
    id,
    organization_id: organization,
    project_id: server.project,
    name,
    description: '',
    zone,
    status: server.status,
    ping_status: server.status === 'ready' ? 'ping_status_up' : 'ping_status_down',
    tags: server.tags,
    offer_id: offer.id,
    offer_name: offer.name,
    boot_type: 'normal',
    domain: `${id}.${zone}.baremetal.scw.cloud`,
    ips: [
      ...ownAddresses(state, server),
      ...shown.map((ip) => addressOf(ip.id, ip.isIpv6 ? 'IPv6' : 'IPv4', ip.address)),
    ],
    install: {
      status: 'completed',
      hostname: name,
      os_id: 'e2f10000-0000-4000-8000-00000000000a',
      user: 'root',
      ssh_key_ids: [],
    },
    options: [],
    rescue_server: null,
    protected: false,
    created_at: time(server.createdAtMs),
    updated_at: time(server.createdAtMs),
  }
}

function ownAddresses({ behaviour }: State, { id, addresses }: Server): Json[] {
  const mask = behaviour.mask === 'none' ? '' : '/128'
  const { IPv4, IPv6 } = addresses
  return [addressOf(id, 'IPv4', IPv4), ...(IPv6 === undefined ? [] : [addressOf(`${id}-6`, 'IPv6', `${IPv6}${mask}`)])]
}

function addressOf(id: string, version: 'IPv4' | 'IPv6', address: string): Json {
  const reverse = version === 'IPv4' ? `${address.replaceAll('.', '-')}.rev.poneytelecom.eu.` : ''
  return { id, address, version, reverse, reverse_status: 'active', reverse_status_message: '' }
}
