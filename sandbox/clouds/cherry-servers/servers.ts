import { setServerBgp } from './bgp.ts'
import { badRequest } from './errors.ts'
import { type Image, defaultImage } from './images.ts'
import { addOwnIps, removeServerIps } from './ips.ts'
import type { Plan } from './plans.ts'
import type { Region } from './regions.ts'
import type { Ip, Project, Server, State, Tags } from './state.ts'

export type ServerOrder = {
  project: Project
  plan: Plan
  region: Region
  hostname?: string
  image?: Image
  tags?: Tags
  sshKeys?: number[]
  spot?: boolean
  /** Floating IPs that are routed to the new server. */
  floatingIps?: Ip[]
}

/** Adds a running server to a project, with its own addresses. */
export function addServer(state: State, { floatingIps = [], ...order }: ServerOrder): Server {
  const id = state.newServerId()
  const server: Server = {
    id,
    hostname: hostNameFor(id),
    name: order.plan.title,
    image: defaultImage,
    tags: {},
    sshKeys: [],
    spot: false,
    state: 'active',
    status: 'deployed',
    power: 'on',
    bgp: { enabled: false, connected: 0, routes: [], updatedMs: state.now() },
    createdAtMs: state.now(),
    deployedAtMs: state.now(),
    ...order,
  }
  addOwnIps(state, server)
  for (const ip of floatingIps) ip.target = server
  state.servers.set(id, server)
  return server
}

/** Schedules the states of a new server until it is active. */
export function provision(state: State, server: Server): void {
  Object.assign(server, { state: 'pending', status: 'deploying' })
  state.schedule(state.provisioningMs / 2, () => {
    if (server.state === 'pending') server.state = 'provisioning'
  })
  state.schedule(state.provisioningMs, () => {
    if (server.state === 'provisioning') Object.assign(server, { state: 'active', status: 'deployed' })
  })
}

/** The changes that a new installation makes; an absent field keeps its value. */
export type Installation = Partial<Pick<Server, 'image' | 'hostname' | 'sshKeys' | 'password'>>

/** Deploys a server again: its status shows it, and its state stays the same. */
export function redeploy(state: State, server: Server, wanted: Installation): void {
  Object.assign(server, wanted, { status: 'deploying', deployedAtMs: state.now() })
  state.schedule(state.provisioningMs, () => {
    if (server.status === 'deploying') server.status = 'deployed'
  })
}

/** Gives a virtual server a larger plan. */
export function upgrade(server: Server, plan: Plan): void {
  if (server.plan.type !== 'vps' || plan.type !== 'vps') throw badRequest('Only virtual servers can be upgraded.')
  if (server.name === server.plan.title) server.name = plan.title
  server.plan = plan
}

/** Switches a server on or off; its state may not show it. */
export function setPower({ behaviour }: State, server: Server, power: 'on' | 'off'): void {
  server.power = power
  if (server.state === 'active' && power === 'off') server.state = behaviour.stateWhenOff
  if (server.state === 'inactive' && power === 'on') server.state = 'active'
}

/** Deletes a server at once, or after the time for which the API still shows it. */
export function terminate(state: State, server: Server): void {
  if (server.state === 'terminating') throw badRequest('The server is being terminated.')
  if (state.deletion.devicesMs === 0) return removeServer(state, server)
  server.state = 'terminating'
  state.schedule(state.deletion.devicesMs, () => removeServer(state, server))
}

/** Removes a server and its own addresses. */
export function removeServer(state: State, server: Server): void {
  setServerBgp(state, server, false)
  removeServerIps(state, server)
  state.servers.delete(server.id)
}

const adjectives =
  'brave calm eager fair gentle happy keen lively model noble proud quick rare swift trusted witty'.split(' ')
const animals =
  'badger crane dolphin eagle falcon heron ibex jackal lynx marten otter panda raven stork trout wren'.split(' ')

/** Returns the host name of a server whose order has none: two words, as the vendor chooses them. */
function hostNameFor(id: number): string {
  const [adjective = '', animal = ''] = [adjectives[id % 16], animals[Math.floor(id / 16) % 16]]
  return `${adjective}-${animal}`
}
