import type { Json } from '../control.ts'
import type { Action, FloatingIp, Server, State } from './state.ts'

/** A time as the API shows it. */
export function time(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, '+00:00')
}

/** A floating IP as the API shows it. */
export function renderFloatingIp(ip: FloatingIp): Json {
  const defaultName = `static.${ip.ip}.clients.your-server.de`
  const names = ip.type === 'ipv4' ? [[ip.ip, ip.names.get(ip.ip) ?? defaultName] as const] : [...ip.names]
  return {
    id: ip.id,
    name: ip.name,
    description: ip.description,
    created: time(ip.createdAtMs),
    ip: ip.ip,
    type: ip.type,
    server: ip.server?.id ?? null,
    blocked: ip.isBlocked,
    dns_ptr: names.map(([address, dns_ptr]) => ({ ip: address, dns_ptr })),
    home_location: ip.location,
    protection: { delete: ip.isProtected },
    labels: ip.labels,
  }
}

/** A server as the API shows it. */
export function renderServer(state: State, server: Server): Json {
  const own = [...state.floatingIps.values()].filter((ip) => ip.server === server && !ip.isDeleting)
  const isShown = state.behaviour.serverShowsAddresses === 'at-once'
  const { ipv4, ipv6, privateNet } = server
  return {
    id: server.id,
    name: server.name,
    status: server.status,
    created: time(server.createdAtMs),
    public_net: {
      ipv4: ipv4 === undefined ? null : { id: server.id + 1, ip: ipv4, blocked: false, dns_ptr: '' },
      ipv6: ipv6 === undefined ? null : { id: server.id + 2, ip: ipv6, blocked: false, dns_ptr: [] },
      floating_ips: isShown ? own.map(({ id }) => id) : [],
      firewalls: [],
    },
    private_net: privateNet ? [{ ...privateNet, alias_ips: [], mac_address: '86:00:ff:2a:7d:e1' }] : [],
    server_type: server.type,
    location: server.location,
    image: server.image,
    iso: null,
    rescue_enabled: false,
    locked: isLocked(state, server.id),
    backup_window: null,
    protection: server.protection,
    labels: server.labels,
    volumes: [],
    load_balancers: [],
    primary_disk_size: server.type.disk,
    placement_group: null,
    included_traffic: 0,
    ingoing_traffic: 0,
    outgoing_traffic: 0,
  }
}

/**
 * An action as the API shows it. The vendor's own examples show an error on successful ones, where it means nothing.
 */
export function renderAction({ startedAtMs, finishedAtMs, project: _project, ...action }: Action): Json {
  const [error, progress] = [action.error, action.status === 'running' ? 0 : 100]
  const finished = finishedAtMs === undefined ? null : time(finishedAtMs)
  const unmeant = { code: 'action_failed', message: 'Action failed' }
  return { ...action, progress, started: time(startedAtMs), finished, error: error ?? unmeant }
}

/** Whether an action runs on an object. */
export function isLocked({ actions }: State, id: number): boolean {
  return [...actions.values()].some(
    ({ status, resources }) => status === 'running' && resources.some((resource) => resource.id === id),
  )
}
