import { contains } from '../address-pool.ts'
import { command, count, flag, milliseconds, text } from '../command.ts'
import { ControlError, findById } from '../control-error.ts'
import { type CloudControl, accountControl, routeControl, statusControl } from '../control.ts'
import type { TokenControl } from '../tokens.ts'
import { removeServer, settle } from './flexible-ips.ts'
import { renderFlexibleIp, renderServer } from './render.ts'
import { type Server, type State, serverStatuses, zones } from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

export type NewServer = { hostname: string; project?: string; zone?: string; hasIpv6?: boolean }

/** Makes the controls of one account; servers are added to the first project. Its reservations are flexible IPs. */
export function makeScalewayControl(
  state: State,
  shared: CloudControl,
  { tokens, project }: { tokens: TokenControl; project: string },
) {
  const account = accountControl({
    state,
    choices: behaviourChoices,
    tokens,
    reservations: {
      all: state.flexibleIps,
      kind: 'flexible IP',
      show: (ip) => renderFlexibleIp(state, ip),
      // No new reservation gets an address that the vendor has lost.
      remove: ({ id }) => void state.flexibleIps.delete(id),
      assign: (ip, server) => settle(state, ip, { status: server ? 'attached' : 'ready', server }),
    },
    devices: {
      all: state.servers,
      kind: 'server',
      show: (server) => renderServer(state, server),
      add: (wanted: NewServer) => addServer(state, { project, ...wanted }),
      power: (server, to) => void (server.status = to === 'on' ? 'ready' : 'stopped'),
      remove: (server) => removeServer(state, server),
      fields: { zone: text, hasIpv6: flag },
      example: '{"hostname":"worker-1","zone":"fr-par-1"}',
    },
  })
  return {
    ...shared,
    ...account,
    devices: {
      ...account.devices,
      setStatus: statusControl(state, serverStatuses, (server) => renderServer(state, server)),
    },
    ...addressControl(state),
  }
}

function addServer(state: State, wanted: NewServer & { project: string }): Server {
  const { hostname, project, zone = 'fr-par-1', hasIpv6 = true } = wanted
  if (!zones.includes(zone)) throw new ControlError(`no zone "${zone}": expected one of ${zones.join(', ')}`)
  const address = state.newAddress('own')
  if (address === undefined) throw new ControlError('no address is left')
  const addresses = { IPv4: address, IPv6: hasIpv6 ? state.newNetwork().replace('/64', '1') : undefined }
  const facts = { id: state.newId(), project, zone, name: hostname, addresses }
  const times = { createdAtMs: state.now(), busyUntilMs: 0 }
  const server: Server = { ...facts, ...times, status: 'ready', tags: [] }
  state.servers.set(server.id, server)
  return server
}

function addressControl(state: State) {
  return {
    route: routeControl((address: string) => {
      state.runDue()
      const { server } = [...state.flexibleIps.values()].find((ip) => contains(ip.address, address)) ?? {}
      return server?.status === 'ready' ? server.id : undefined
    }),
    setChanges: command(
      {
        route: 'PUT /changes',
        help: 'Sets how long a server takes to attach or detach an address, and whether that fails.',
        example: '{"ms":5000,"fail":false}',
        optional: { ms: milliseconds, fail: flag },
      },
      ({ ms, fail }: { ms?: number; fail?: boolean }) => {
        if (ms !== undefined) state.changeMs = ms
        if (fail !== undefined) state.changesFail = fail
      },
    ),
    setServerLimit: command(
      {
        route: 'PUT /server-limit',
        help: 'Sets how many addresses a server has at most.',
        example: '{"addresses":2}',
        fields: { addresses: count },
      },
      ({ addresses }: { addresses: number }) => void (state.serverLimit = addresses),
    ),
    lock: command(
      { route: 'PUT /reservations/:id/lock', help: 'Locks an address, as the vendor does.' },
      (id: string) => {
        state.runDue()
        findById(state.flexibleIps, id, 'flexible IP').status = 'locked'
      },
    ),
  }
}
