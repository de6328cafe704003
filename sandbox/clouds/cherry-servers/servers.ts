import { setServerBgp } from './bgp.ts'
import { badRequest } from './errors.ts'
import { addOwnIps, removeServerIps } from './ips.ts'
import type { Plan } from './plans.ts'
import type { Region } from './regions.ts'
import type { Project, Server, State, Tags } from './state.ts'

export type ServerOrder = {
  project: Project
  plan: Plan
  region: Region
  hostname?: string
  image?: string
  tags?: Tags
  sshKeys?: number[]
  spot?: boolean
}

/** Adds a running server to a project, with its own addresses. */
export function addServer(state: State, order: ServerOrder): Server {
  const id = state.newServerId()
  const server: Server = {
    id,
    hostname: `server-${id}`,
    name: order.plan.title,
    image: 'Ubuntu 24.04 64bit',
    tags: {},
    sshKeys: [],
    spot: false,
    state: 'active',
    status: 'deployed',
    power: 'on',
    bgp: { enabled: false, connected: 0, routes: [], updatedMs: state.now() },
    createdAtMs: state.now(),
    ...order,
  }
  addOwnIps(state, server)
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

/** Deploys a server again: its status shows it, and its state stays the same. */
export function redeploy(state: State, server: Server): void {
  server.status = 'deploying'
  state.schedule(state.provisioningMs, () => {
    if (server.status === 'deploying') server.status = 'deployed'
  })
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
