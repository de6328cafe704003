import { contains } from '../address-pool.ts'
import { command, flag, milliseconds, text } from '../command.ts'
import { ControlError, findById } from '../control-error.ts'
import { type CloudControl, accountControl, routeControl, statusControl } from '../control.ts'
import type { TokenControl } from '../tokens.ts'
import { removeFloatingIp } from './floating-ips.ts'
import { findLocation } from './locations.ts'
import { renderFloatingIp, renderServer } from './render.ts'
import { addServer, removeServer } from './servers.ts'
import { type PrivateNet, type State, serverStatuses } from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

export type NewServer = { hostname: string; project?: string; location?: string; hasIpv4?: boolean }

/** Makes the controls of one account. Its reservations are floating IPs. */
export function makeHetznerControl(state: State, shared: CloudControl, tokens: TokenControl) {
  const account = accountControl({
    state,
    choices: behaviourChoices,
    tokens,
    reservations: {
      all: state.floatingIps,
      kind: 'floating IP',
      show: renderFloatingIp,
      remove: (ip) => removeFloatingIp(state, ip),
      assign: (ip, server) => void (ip.server = server),
    },
    devices: {
      all: state.servers,
      kind: 'server',
      show: (server) => renderServer(state, server),
      add: (wanted: NewServer) => addServer(state, readNewServer(wanted)),
      power: (server, to) => void (server.status = to === 'on' ? 'running' : 'off'),
      remove: (server) => removeServer(state, server),
      fields: { location: text, hasIpv4: flag },
      example: '{"hostname":"worker-1","location":"fsn1"}',
    },
  })
  return {
    ...shared,
    ...account,
    devices: { ...account.devices, ...deviceControl(state) },
    floatingIps: { setBlocked: blockControl(state) },
    ...trafficControl(state),
  }
}

function blockControl(state: State) {
  return command(
    {
      route: 'PUT /floating-ips/:id/blocked',
      help: 'Blocks an address, as the vendor does, or ends that.',
      example: '{"blocked":true}',
      fields: { blocked: flag },
      spreads: true,
    },
    (id: string, isBlocked: boolean) => void (findById(state.floatingIps, id, 'floating IP').isBlocked = isBlocked),
  )
}

function readNewServer({ hostname, project = '1', location = 'fsn1', hasIpv4 = true }: NewServer) {
  const place = findLocation(location)
  if (!place) throw new ControlError(`no location "${location}"`)
  return { project: Number(project), name: hostname, location: place, hasIpv4 }
}

function deviceControl(state: State) {
  const find = (id: string) => findById(state.servers, id, 'server')
  return {
    setStatus: statusControl(state, serverStatuses, (server) => renderServer(state, server)),
    /** Attaches a server to a network with this address, and to no other; undefined detaches it. */
    setPrivateNet(id: string, net: PrivateNet | undefined) {
      const server = find(id)
      const others = [...state.servers.values()].filter((other) => other !== server && other.project === server.project)
      const isTaken = others.some(({ privateNet: of }) => of?.network === net?.network && of?.ip === net?.ip)
      if (net && isTaken) throw new ControlError(`network ${net.network} has a server with the address ${net.ip}`)
      server.privateNet = net
      return renderServer(state, server)
    },
  }
}

type Actions = { ms?: number; error?: { code: string; message: string } | null }

function trafficControl(state: State) {
  return {
    route: routeControl((address: string) => {
      state.runDue()
      const { server } = [...state.floatingIps.values()].find(({ ip }) => contains(ip, address)) ?? {}
      return server?.status === 'running' ? String(server.id) : undefined
    }),
    setActions: command(
      {
        route: 'PUT /actions',
        help: 'Sets how long actions run, and the error with which they end; null is none.',
        example: '{"ms":3000,"error":{"code":"unknown_error","message":"server is locked"}}',
        optional: { ms: milliseconds, error: {} },
      },
      ({ ms, error }: Actions) => {
        if (ms !== undefined) state.action = { fromMs: ms, toMs: ms }
        if (error !== undefined) state.actionError = error ?? undefined
      },
    ),
  }
}
