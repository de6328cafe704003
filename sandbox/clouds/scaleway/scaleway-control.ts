import { contains } from '../address-pool.ts'
import { ControlError, findById } from '../control-error.ts'
import type { AccountControl, CloudControl, Json } from '../control.ts'
import { removeServer, settle } from './flexible-ips.ts'
import { renderFlexibleIp, renderServer } from './render.ts'
import { type FlexibleIp, type Server, type State, serverStatuses, zones } from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type NewServer = { hostname: string; project?: string; zone?: string }

/** The controls of a simulated Scaleway, in addition to those of every cloud. Its reservations are flexible IPs. */
export type ScalewayControl = AccountControl & {
  devices: {
    add(server: NewServer): Json
    setStatus(id: string, status: Server['status']): Json
  }
  /** Sets how long a server takes to attach or detach an address, and whether that fails. */
  setChanges(changes: { ms?: number; fail?: boolean }): void
  /** Sets how many addresses a server has at most. */
  setServerLimit(limit: { addresses: number }): void
  /** Locks an address, as the vendor does. */
  lock(id: string): void
  /** The server that gets the traffic of an address; undefined if none does, for example because it is off. */
  route(address: string): string | undefined
  unknowns(): UnknownBehaviour
  setUnknowns(given: Partial<UnknownBehaviour>): void
}

/** Makes the controls of one account; servers are added to the first project. */
export function makeScalewayControl(
  state: State,
  shared: CloudControl,
  parts: Pick<ScalewayControl, 'tokens'> & { project: string },
): ScalewayControl {
  const all = () => {
    state.runDue()
    return [...state.flexibleIps.values()]
  }
  const ipOf = (id: string) => {
    state.runDue()
    return findById(state.flexibleIps, id, 'flexible IP')
  }
  return {
    ...shared,
    tokens: parts.tokens,
    reservations: {
      all: () => all().map((ip) => renderFlexibleIp(state, ip)),
      deleting: () => all().flatMap(({ id, isDeleting }) => (isDeleting ? [id] : [])),
      // No new reservation gets an address that the vendor has lost.
      vanish: (id) => void state.flexibleIps.delete(ipOf(id).id),
      assign: (id, machine) => settle(state, ipOf(id), placed(state, machine)),
    },
    devices: deviceControl(state, parts.project),
    setChanges({ ms, fail }) {
      if (ms !== undefined) state.changeMs = ms
      if (fail !== undefined) state.changesFail = fail
    },
    setServerLimit: ({ addresses }) => void (state.serverLimit = addresses),
    lock: (id) => void (ipOf(id).status = 'locked'),
    route(address) {
      const { server } = all().find((ip) => contains(ip.address, address)) ?? {}
      return server?.status === 'ready' ? server.id : undefined
    },
    setDeletion: (deletion) => void Object.assign(state.deletion, deletion),
    unknowns: () => ({ ...state.behaviour }),
    setUnknowns: (given) => void (state.behaviour = chooseBehaviour({ ...state.behaviour, ...given })),
  }
}

function placed(state: State, machine: string | undefined): Pick<FlexibleIp, 'status' | 'server'> {
  if (machine === undefined) return { status: 'ready', server: undefined }
  return { status: 'attached', server: findById(state.servers, machine, 'server') }
}

function deviceControl(state: State, firstProject: string): ScalewayControl['devices'] {
  const serverOf = (id: string) => {
    state.runDue()
    return findById(state.servers, id, 'server')
  }
  const setStatus = (id: string, status: Server['status']) => {
    if (!serverStatuses.includes(status))
      throw new ControlError(`"${status}": expected one of ${serverStatuses.join(', ')}`)
    const server = serverOf(id)
    server.status = status
    return renderServer(state, server)
  }
  return {
    all: () => [...state.servers.values()].map((server) => renderServer(state, server)),
    add({ hostname, project = firstProject, zone = 'fr-par-1' }: NewServer) {
      if (!zones.includes(zone)) throw new ControlError(`no zone "${zone}": expected one of ${zones.join(', ')}`)
      const address = state.newAddress('own')
      if (address === undefined) throw new ControlError('no address is left')
      const addresses = { IPv4: address, IPv6: state.newNetwork().replace('/64', '1') }
      const facts = { id: state.newId(), project, zone, name: hostname, addresses }
      const times = { createdAtMs: state.now(), busyUntilMs: 0 }
      const server: Server = { ...facts, ...times, status: 'ready', tags: [] }
      state.servers.set(server.id, server)
      return renderServer(state, server)
    },
    setStatus,
    powerOff: (id) => setStatus(id, 'stopped'),
    powerOn: (id) => setStatus(id, 'ready'),
    remove: (id) => removeServer(state, serverOf(id)),
  }
}
