import { contains } from '../address-pool.ts'
import { ControlError, findById } from '../control-error.ts'
import type { AccountControl, CloudControl, Json } from '../control.ts'
import { removeFloatingIp } from './floating-ips.ts'
import { findLocation } from './locations.ts'
import { renderFloatingIp, renderServer } from './render.ts'
import { addServer, removeServer } from './servers.ts'
import { type PrivateNet, type Server, type State, serverStatuses } from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type NewServer = { hostname: string; project?: string; location?: string; hasIpv4?: boolean }

/**
 * The calls that a project may send: a bucket of this size, which regains one call every `refillMs`. Undefined is no
 * limit.
 */
export type CallLimit = { calls: number; refillMs: number } | undefined

/** The controls of a simulated Hetzner Cloud, in addition to those of every cloud. Its reservations are floating IPs. */
export type HetznerControl = AccountControl & {
  floatingIps: {
    /** Blocks an address, as the vendor does. */
    setBlocked(id: string, isBlocked: boolean): void
  }
  devices: {
    add(server: NewServer): Json
    setStatus(id: string, status: Server['status']): Json
    /** Attaches a server to a network with this address, and to no other; undefined detaches it. */
    setPrivateNet(id: string, net: PrivateNet | undefined): Json
  }
  /** Sets how long actions run, and how the next ones fail; by default they succeed at once. */
  setActions(actions: { ms?: number; error?: { code: string; message: string } | null }): void
  /** The server that gets the traffic of an address; undefined if none does, for example because it is off. */
  route(address: string): string | undefined
  setCallLimit(limit: CallLimit): void
  unknowns(): UnknownBehaviour
  setUnknowns(given: Partial<UnknownBehaviour>): void
}

/** Makes the controls of one account. */
export function makeHetznerControl(
  state: State,
  shared: CloudControl,
  parts: Pick<HetznerControl, 'setCallLimit' | 'tokens'>,
): HetznerControl {
  const ipOf = (id: string) => findById(state.floatingIps, Number(id), 'floating IP')
  return {
    ...shared,
    ...parts,
    reservations: {
      all() {
        state.runDue()
        return [...state.floatingIps.values()].map(renderFloatingIp)
      },
      deleting: () =>
        [...state.floatingIps.values()].filter(({ isDeleting }) => isDeleting).map(({ id }) => String(id)),
      vanish: (id) => removeFloatingIp(state, ipOf(id)),
      assign: (id, machine) => void (ipOf(id).server = machine === undefined ? undefined : serverOf(state, machine)),
    },
    floatingIps: { setBlocked: (id, isBlocked) => void (ipOf(id).isBlocked = isBlocked) },
    devices: deviceControl(state),
    route(address) {
      state.runDue()
      const { server } = [...state.floatingIps.values()].find(({ ip }) => contains(ip, address)) ?? {}
      return server?.status === 'running' ? String(server.id) : undefined
    },
    setActions({ ms, error }) {
      if (ms !== undefined) state.action = { fromMs: ms, toMs: ms }
      if (error !== undefined) state.actionError = error ?? undefined
    },
    setDeletion: (deletion) => void Object.assign(state.deletion, deletion),
    unknowns: () => ({ ...state.behaviour }),
    setUnknowns: (given) => void (state.behaviour = chooseBehaviour({ ...state.behaviour, ...given })),
  }
}

const serverOf = (state: State, id: string) => findById(state.servers, Number(id), 'server')

function deviceControl(state: State): HetznerControl['devices'] {
  const setStatus = (id: string, status: Server['status']) => {
    if (!serverStatuses.includes(status))
      throw new ControlError(`"${status}": expected one of ${serverStatuses.join(', ')}`)
    const server = serverOf(state, id)
    server.status = status
    return renderServer(state, server)
  }
  return {
    all: () => [...state.servers.values()].map((server) => renderServer(state, server)),
    add(wanted: NewServer) {
      const { hostname, project = '1', location = 'fsn1', hasIpv4 = true } = wanted
      const place = findLocation(location)
      if (!place) throw new ControlError(`no location "${location}"`)
      return renderServer(
        state,
        addServer(state, { project: Number(project), name: hostname, location: place, hasIpv4 }),
      )
    },
    setStatus,
    setPrivateNet(id, net) {
      const server = serverOf(state, id)
      const others = [...state.servers.values()].filter((other) => other !== server && other.project === server.project)
      const isTaken = others.some(({ privateNet: of }) => of?.network === net?.network && of?.ip === net?.ip)
      if (net && isTaken) throw new ControlError(`network ${net.network} has a server with the address ${net.ip}`)
      server.privateNet = net
      return renderServer(state, server)
    },
    powerOff: (id) => setStatus(id, 'off'),
    powerOn: (id) => setStatus(id, 'running'),
    remove: (id) => removeServer(state, serverOf(state, id)),
  }
}
