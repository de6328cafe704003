import { invalidInput, refused, refusedFor } from './errors.ts'
import { type Labels, readLabels } from './labels.ts'
import { findLocation } from './locations.ts'
import { isLocked } from './render.ts'
import type { FloatingIp, Server, State } from './state.ts'

type Body = Record<string, unknown>

/** Creates a floating IP from the body of a request, in a location or at a server. */
export function createFloatingIp(state: State, project: number, body: Body): FloatingIp {
  const { type, home_location: place, server: serverId } = body
  if (type !== 'ipv4' && type !== 'ipv6') throw invalidInput('type', 'must be ipv4 or ipv6')
  const labels = readLabels(body['labels'])
  if ((place === undefined) === (serverId === undefined))
    throw refusedFor(422, 'invalid_input', {
      message: "invalid input in fields 'server', 'home_location'",
      details: { fields: ['server', 'home_location'].map((name) => ({ name, messages: ['exactly one is needed'] })) },
    })
  const server = serverId === undefined ? undefined : serverOf(state, project, serverId)
  const location = server?.location ?? findLocation(place)
  if (!location) throw invalidInput('home_location', 'no such location')
  if (state.behaviour.orderOverLimit === 'limit') requireRoom(state, project)
  const name = readName(state, project, body['name'])
  requireRoom(state, project)
  const address = type === 'ipv4' ? state.newIpv4('floating') : { ip: state.newIpv6(), free: () => {} }
  if (!address) throw refused(412)
  const id = state.newId()
  const ip: FloatingIp = {
    id,
    project,
    name: name ?? `floating-ip-${id}`,
    description: typeof body['description'] === 'string' ? body['description'] : null,
    type,
    ...address,
    location,
    labels,
    server,
    isBlocked: false,
    isProtected: false,
    names: new Map(),
    createdAtMs: state.now(),
  }
  state.floatingIps.set(id, ip)
  return ip
}

function requireRoom(state: State, project: number): void {
  if (ownOf(state, project).length >= state.quota.of(String(project)))
    throw refusedFor(403, 'resource_limit_exceeded', {
      message: 'Floating IP limit exceeded',
      details: { limits: [{ name: 'floating_ips_limit' }] },
    })
}

/** Changes what the body of a PUT names; labels are replaced as a whole. */
export function changeFloatingIp(state: State, ip: FloatingIp, body: Body): void {
  const labels: Labels | undefined = 'labels' in body ? readLabels(body['labels']) : undefined
  const name = body['name'] === ip.name ? undefined : readName(state, ip.project, body['name'])
  if (labels) ip.labels = labels
  if (name !== undefined) ip.name = name
  if (typeof body['description'] === 'string') ip.description = body['description']
}

/** Deletes a floating IP. Since May 2026 the vendor refuses this while a server has it. */
export function deleteFloatingIp(state: State, ip: FloatingIp): void {
  const refusals = {
    locked: isLocked(state, ip.id) && refusedFor(423, 'locked', { message: 'Floating IP is locked' }),
    protected: ip.isProtected && refusedFor(423, 'protected', { message: 'Floating IP deletion is protected' }),
    assigned:
      ip.server && refusedFor(422, 'must_be_unassigned', { message: 'Floating IP must be unassigned before deletion' }),
  }
  const { deleteOrder } = state.behaviour
  const other = deleteOrder === 'protected' ? 'assigned' : 'protected'
  const refusal = refusals.locked || refusals[deleteOrder] || refusals[other]
  if (refusal) throw refusal
  const { reservationsMs } = state.deletion
  if (reservationsMs === 0) return removeFloatingIp(state, ip)
  ip.isDeleting = true
  state.schedule(reservationsMs, () => removeFloatingIp(state, ip))
}

/** Removes a floating IP at once, whatever its state. */
export function removeFloatingIp(state: State, ip: FloatingIp): void {
  if (!state.floatingIps.delete(ip.id)) return
  ip.free()
}

/** Returns the server that a request's body names. */
export function serverOf(state: State, project: number, given: unknown): Server {
  const server = state.servers.get(Number(given))
  if (server && server.project === project) return server
  throw state.behaviour.unknownServer === '404' ? refused(404, 'server not found') : invalidInput('server', 'not found')
}

function readName(state: State, project: number, given: unknown): string | undefined {
  if (given === undefined || given === null || given === '') return undefined
  if (typeof given !== 'string' || given.length > 63) throw invalidInput('name', 'is too long')
  // The name of a deleted one is free again.
  if (ownOf(state, project).every(({ name, isDeleting }) => name !== given || isDeleting)) return given
  const details = { fields: [{ name: 'name' }] }
  throw refusedFor(409, 'uniqueness_error', { message: 'name is already used', details })
}

function ownOf({ floatingIps }: State, project: number): FloatingIp[] {
  return [...floatingIps.values()].filter((ip) => ip.project === project)
}
