import { ApiError } from '../api-error.ts'
import { textOf } from '../request-body.ts'
import { errorBody, invalidArgument, refused } from './errors.ts'
import type { FlexibleIp, Server, State } from './state.ts'

type Body = Record<string, unknown>

const maxTags = 64
const maxLength = 255

/** Creates a flexible IP from the body of a request. The next one after a deletion reuses the deleted one. */
export function createFlexibleIp(state: State, { project, zone }: { project: string; zone: string }, body: Body) {
  const tags = readTags(body['tags'])
  const description = readDescription(body['description'])
  const isIpv6 = body['is_ipv6'] === true
  const server =
    typeof body['server_id'] === 'string' ? serverIn(state, { project, zone }, body['server_id']) : undefined
  // The vendor counts by organization, and all projects here belong to one.
  const current = [...state.flexibleIps.values()].filter((ip) => !ip.isDeleting).length
  const quota = state.quota.of(project)
  if (current >= quota) throw quotaExceeded(state, { resource: 'FlexibleIPs', quota, current })
  if (server) requireRoom(state, server, 1)
  const leftover = takeLeftover(state, { project, zone, isIpv6 })
  const address = leftover?.address ?? (isIpv6 ? state.newNetwork() : state.newAddress('flexible'))
  if (address === undefined)
    throw new ApiError(503, { type: 'out_of_stock', message: 'resource is out of stock', resource: 'flexible-ip' })
  const isSame = leftover !== undefined && state.recycles
  const ip: FlexibleIp = {
    id: isSame ? leftover.id : state.newId(),
    project,
    zone,
    description,
    tags,
    status: 'ready',
    address,
    isIpv6,
    server: undefined,
    next: undefined,
    mac: undefined,
    reverse: null,
    createdAtMs: isSame ? leftover.createdAtMs : state.now(),
    updatedAtMs: state.now(),
    changes: 0,
  }
  state.flexibleIps.set(ip.id, ip)
  if (server) beginAttach(state, ip, server)
  return ip
}

/** Changes what the body of a PATCH names; tags are replaced as a whole. */
export function changeFlexibleIp(state: State, ip: FlexibleIp, body: Body): void {
  const tags = 'tags' in body ? readTags(body['tags']) : ip.tags
  const description = 'description' in body ? readDescription(body['description']) : ip.description
  const reverse = 'reverse' in body ? textOf(body['reverse']) || null : ip.reverse
  Object.assign(ip, { tags, description, reverse, updatedAtMs: state.now() })
}

/** Deletes a flexible IP; one that is attached is detached first. */
export function deleteFlexibleIp(state: State, ip: FlexibleIp): void {
  if (ip.isDeleting) {
    if (state.behaviour.deleteAgain === '409') throw transient(ip)
    return
  }
  if (ip.status === 'updating' || ip.status === 'detaching') throw transient(ip)
  if (ip.status === 'locked') throw locked(ip)
  const laterMs = state.deletion.reservationsMs
  if (!ip.server && laterMs === 0) return removeFlexibleIp(state, ip)
  ip.isDeleting = true
  ip.status = 'detaching'
  ip.changes += 1
  state.schedule(Math.max(laterMs, ip.server ? waitFor(state, ip.server) : 0), () => removeFlexibleIp(state, ip))
}

function removeFlexibleIp({ flexibleIps, leftovers }: State, ip: FlexibleIp): void {
  if (flexibleIps.delete(ip.id)) leftovers.push(ip)
}

/** Attaches addresses to a server, one after the other. All are refused if one is. */
export function attach(state: State, ips: FlexibleIp[], server: Server): void {
  for (const ip of ips) requireAttachable(state, ip)
  if (server.status !== 'ready') throw invalidArgument('server_id', 'server is not ready')
  requireRoom(state, server, ips.filter((ip) => ip.server !== server).length)
  for (const ip of ips) beginAttach(state, ip, server)
}

/** Detaches addresses; an unattached one stays as it is. */
export function detach(state: State, ips: FlexibleIp[]): void {
  for (const ip of ips) requireSettled(ip)
  for (const ip of ips) if (ip.status !== 'ready') beginDetach(state, ip)
}

const macTypes = ['kvm', 'vmware', 'xen']

/** Gives an attached address a virtual MAC. Its server keeps it meanwhile, and every other change is refused. */
export function generateMac(state: State, ip: FlexibleIp, type: unknown): void {
  requireSettled(ip)
  if (!macTypes.includes(textOf(type))) throw invalidArgument('mac_type', `must be one of ${macTypes.join(', ')}`)
  const { server } = ip
  if (ip.status !== 'attached' || !server || ip.mac)
    throw refused(412, { precondition: 'resource_not_usable', help_message: 'flexible IP has no server, or a MAC' })
  const mac = {
    address: `02:00:00:${ip.id.slice(0, 6).replace(/..(?=.)/g, '$&:')}`,
    type: textOf(type),
    isReady: false,
  }
  ip.mac = mac
  const change = begin(state, ip, 'updating')
  state.schedule(state.changeMs, () => {
    mac.isReady = true
    if (ip.changes === change) settle(state, ip, { status: 'attached', server })
  })
}

/** Removes a server, and detaches its addresses. */
export function removeServer(state: State, server: Server): void {
  state.servers.delete(server.id)
  for (const ip of state.flexibleIps.values()) if (ip.server === server && !ip.isDeleting) beginDetach(state, ip)
}

/** Returns the server that a request's body names, which has to be in the zone. */
export function serverIn(state: State, { project, zone }: { project: string; zone: string }, id: unknown): Server {
  const server = state.servers.get(textOf(id))
  if (server && server.project === project && server.zone === zone) return server
  if (state.behaviour.unknownServer === '400') throw invalidArgument('server_id', 'server not found', 'unknown')
  throw refused(404, { resource: 'server', resource_id: textOf(id) })
}

function requireAttachable({ behaviour }: State, ip: FlexibleIp): void {
  requireSettled(ip)
  if (ip.status === 'ready' || (ip.status === 'attached' && behaviour.attachElsewhere === 'accept')) return
  if (behaviour.attachElsewhere === 'precondition')
    throw refused(412, { precondition: 'resource_not_usable', help_message: 'flexible IP is attached' })
  throw invalidArgument('fips_ids', 'flexible IP is not ready')
}

function requireSettled(ip: FlexibleIp): void {
  if (ip.status === 'updating' || ip.status === 'detaching') throw transient(ip)
  if (ip.status === 'locked') throw locked(ip)
}

function requireRoom(state: State, server: Server, more: number): void {
  const current = [...state.flexibleIps.values()].filter((ip) => (ip.next ?? ip.server) === server).length
  const quota = state.serverLimit
  if (current + more > quota) throw quotaExceeded(state, { resource: 'FlexibleIPsOfServer', quota, current })
}

function beginAttach(state: State, ip: FlexibleIp, server: Server): void {
  const change = begin(state, ip, 'updating')
  ip.next = server
  state.schedule(waitFor(state, server), () => {
    if (ip.changes !== change) return
    const isDone = state.servers.has(server.id) && !state.changesFail
    settle(state, ip, isDone ? { status: 'attached', server } : { status: 'error', server: undefined })
  })
}

function beginDetach(state: State, ip: FlexibleIp): void {
  const change = begin(state, ip, 'detaching')
  const ms = ip.server ? waitFor(state, ip.server) : state.changeMs
  state.schedule(ms, () => {
    if (ip.changes === change) settle(state, ip, { status: 'ready', server: undefined })
  })
}

function begin(state: State, ip: FlexibleIp, status: FlexibleIp['status']): number {
  ip.status = status
  ip.updatedAtMs = state.now()
  return (ip.changes += 1)
}

/** Puts an address into a state at once, as a person does in the console; a running change no longer takes effect. */
export function settle(state: State, ip: FlexibleIp, now: Pick<FlexibleIp, 'status' | 'server'>): void {
  Object.assign(ip, now, { next: undefined, updatedAtMs: state.now(), changes: ip.changes + 1 })
}

/** The time until a new change at this server completes: it begins when the previous one has ended. */
function waitFor(state: State, server: Server): number {
  server.busyUntilMs = Math.max(state.now(), server.busyUntilMs) + state.changeMs
  return server.busyUntilMs - state.now()
}

function takeLeftover({ leftovers }: State, wanted: Pick<FlexibleIp, 'project' | 'zone' | 'isIpv6'>) {
  const { project, zone, isIpv6 } = wanted
  const at = leftovers.findLastIndex((one) => one.project === project && one.zone === zone && one.isIpv6 === isIpv6)
  return at < 0 ? undefined : leftovers.splice(at, 1)[0]
}

function readTags(given: unknown): string[] {
  if (given === undefined || given === null) return []
  const isList = Array.isArray(given) && given.every((tag) => typeof tag === 'string' && tag.length <= maxLength)
  if (!isList || given.length > maxTags)
    throw invalidArgument('tags', `at most ${maxTags} tags of ${maxLength} characters`)
  return given.map(String)
}

function readDescription(given: unknown): string {
  const text = textOf(given)
  if (text.length > maxLength) throw invalidArgument('description', `at most ${maxLength} characters`)
  return text
}

function quotaExceeded({ behaviour }: State, detail: { resource: string; quota: number; current: number }): ApiError {
  const body = { type: 'quotas_exceeded', message: 'quota(s) exceeded', details: [detail] }
  return new ApiError(Number(behaviour.quotaStatus), body)
}

function transient({ id, status }: FlexibleIp): ApiError {
  return refused(409, { resource: 'flexible_ip', resource_id: id, current_state: status })
}

function locked({ id }: FlexibleIp): ApiError {
  return new ApiError(423, {
    ...errorBody(423, 'resource is locked'),
    type: 'locked',
    resource: 'fip',
    resource_id: id,
  })
}
