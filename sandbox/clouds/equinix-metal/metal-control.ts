import { command, count, milliseconds, text, texts } from '../command.ts'
import { ControlError, findById } from '../control-error.ts'
import { type CloudControl, accountControl } from '../control.ts'
import type { TokenControl } from '../tokens.ts'
import { assign, detach } from './assignments.ts'
import type { BalancerControl } from './balancers/control.ts'
import { addDevice, removeDevice, setDeviceState } from './device-lifecycle.ts'
import { plain } from './includes.ts'
import { findMetro, plans } from './locations.ts'
import { metadataOf } from './metadata.ts'
import { renderReservation } from './render.ts'
import { renderDevice } from './render-device.ts'
import { grant, removeReservation } from './reservations.ts'
import {
  type BgpConfig,
  type Device,
  type DeviceState,
  type Reservation,
  type State,
  assignmentsIn,
  deviceStates,
} from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

export type NewDevice = {
  hostname: string
  project?: string
  metro?: string
  plan?: string
  tags?: string[]
  state?: DeviceState
}

/** Makes the controls of one account. */
export function makeMetalControl(
  state: State,
  shared: CloudControl,
  { balancers, tokens }: { balancers: BalancerControl; tokens: TokenControl },
) {
  const account = accountControl({
    state,
    choices: behaviourChoices,
    tokens,
    reservations: {
      all: state.reservations,
      kind: 'reservation',
      show: (reservation) => renderReservation(state, reservation, plain),
      remove: (reservation) => removeReservation(state, reservation),
      assign: (reservation, device) => reassign(state, reservation, device),
    },
    devices: {
      all: state.devices,
      kind: 'device',
      show: (device) => renderDevice(state, device, plain),
      add: (wanted: NewDevice) => addDevice(state, readNewDevice(state, wanted)),
      power: (device, to) => setDeviceState(state, device, to === 'on' ? 'active' : 'inactive'),
      remove: (device) => removeDevice(state, device),
      fields: { metro: text, plan: text, tags: texts, state: deviceState },
      example: '{"hostname":"worker-1","metro":"da"}',
    },
  })
  return {
    ...shared,
    ...account,
    reservations: { ...account.reservations, ...grantControl(state) },
    devices: { ...account.devices, ...deviceControl(state) },
    bgp: bgpControl(state),
    ...supplyControl(state),
    balancers,
  }
}

const deviceState = { enum: [...deviceStates] }

function reassign(state: State, reservation: Reservation, device: Device | undefined): void {
  for (const one of assignmentsIn(state, reservation)) detach(state, one)
  if (device) assign(state, device, { address: reservation.block?.network })
}

function readNewDevice(state: State, { project, metro = 'da', plan = 'c3.small.x86', ...wanted }: NewDevice) {
  const [first] = state.projects.keys()
  return {
    project: findById(state.projects, project ?? first ?? '', 'project'),
    metro: metroNamed(metro),
    plan: planNamed(plan),
    hostname: wanted.hostname,
    state: wanted.state ?? ('active' as const),
    operatingSystem: 'ubuntu_24_04',
    settings: { tags: wanted.tags ?? [] },
  }
}

function metroNamed(code: string) {
  const metro = findMetro(code)
  if (!metro) throw new ControlError(`no metro "${code}"`)
  return metro
}

function planNamed(name: string) {
  const plan = plans.find(({ slug }) => slug === name)
  if (!plan) throw new ControlError(`no plan "${name}": expected one of ${plans.map(({ slug }) => slug).join(', ')}`)
  return plan
}

function grantControl(state: State) {
  const find = (id: string) => findById(state.reservations, id, 'reservation')
  const show = (reservation: Reservation) => renderReservation(state, reservation, plain)
  return {
    grant: command({ route: 'POST /reservations/:id/grant', help: 'Grants a pending reservation.' }, (id: string) => {
      if (!grant(state, find(id))) throw new ControlError(`reservation ${id} is not pending, or no address is left`)
      return show(find(id))
    }),
    deny: command({ route: 'POST /reservations/:id/deny', help: 'Denies a pending reservation.' }, (id: string) => {
      if (find(id).state !== 'pending') throw new ControlError(`reservation ${id} is not pending`)
      return show(Object.assign(find(id), { state: 'denied' as const }))
    }),
  }
}

function deviceControl(state: State) {
  const find = (id: string) => findById(state.devices, id, 'device')
  return {
    setState: command(
      {
        route: 'PUT /devices/:id/state',
        help: 'Sets the state of a device.',
        example: '{"state":"failed"}',
        fields: { state: deviceState },
        spreads: true,
      },
      (id: string, to: DeviceState) => {
        setDeviceState(state, find(id), to)
        return renderDevice(state, find(id), plain)
      },
    ),
    metadata: command(
      {
        route: 'GET /devices/:id/metadata-service/metadata',
        help: "The device's metadata service. Its base URL is the part before the last /metadata.",
      },
      (id: string) => metadataOf(state, find(id)),
    ),
  }
}

function bgpControl(state: State) {
  return {
    setSession: command(
      {
        route: 'PATCH /bgp/sessions/:id',
        help: 'Sets what a BGP session shows: a word for each switch, and the learned routes.',
        example: '{"status":"up,up","learnedRoutes":["203.0.113.40/32"]}',
        optional: { status: text, learnedRoutes: texts },
      },
      (id: string, shown: { status?: string; learnedRoutes?: string[] }) =>
        void Object.assign(findById(state.sessions, id, 'BGP session'), shown, { updatedAt: state.timestamp() }),
    ),
    setStatus: command(
      {
        route: 'PUT /projects/:id/bgp-status',
        help: 'Enables a requested (global) BGP configuration, or disables one.',
        example: '{"status":"enabled"}',
        fields: { status: { enum: ['requested', 'enabled', 'disabled'] } },
        spreads: true,
      },
      (id: string, status: BgpConfig['status']) => {
        const { bgpConfig } = findById(state.projects, id, 'project')
        if (!bgpConfig) throw new ControlError(`project ${id} has no BGP configuration`)
        bgpConfig.status = status
      },
    ),
  }
}

function supplyControl(state: State) {
  return {
    setRoom: command(
      {
        route: 'PUT /room',
        help: 'Sets how many devices of a plan a metro has room for, with those that it has. Orders for more get 422.',
        example: '{"metro":"da","plan":"c3.small.x86","devices":2}',
        fields: { metro: text, plan: text, devices: count },
      },
      ({ metro, plan, devices }: { metro: string; plan: string; devices: number }) =>
        void state.room.set(`${metroNamed(metro).code} ${planNamed(plan).slug}`, devices),
    ),
    setGrants: command(
      {
        route: 'PUT /grants',
        help: '"at-once"; "review": a person decides, and fail-fast requests get 422; "late": always pending first.',
        example: '{"mode":"late","afterMs":3000}',
        fields: { mode: { enum: ['at-once', 'review', 'late'] } },
        optional: { afterMs: milliseconds },
      },
      (grants: State['grants']) => void (state.grants = grants),
    ),
  }
}
