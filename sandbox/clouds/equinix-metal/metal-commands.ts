import { accountCommands, idOf, unknownCommands } from '../account-commands.ts'
import type { Command } from '../control.ts'
import { ControlError } from '../control-error.ts'
import { balancerCommands } from './balancers/control.ts'
import { metadataOf } from './metadata.ts'
import type { EquinixMetalControl, NewDevice } from './metal-control.ts'
import { type State, deviceStates } from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const milliseconds = { type: 'number', minimum: 0 }
const deviceState = { enum: [...deviceStates] }

/** Returns the commands of the control API of a simulated Equinix Metal. */
export function metalCommands(state: State, control: EquinixMetalControl): Command[] {
  return [
    ...accountCommands(control),
    ...reservationCommands(control),
    ...timingCommands(control),
    ...capacityCommands(control),
    ...deviceCommands(state, control),
    ...bgpCommands(control),
    ...balancerCommands(control.balancers),
    ...unknownCommands(behaviourChoices, control),
  ]
}

function reservationCommands({ reservations }: EquinixMetalControl): Command[] {
  return [
    {
      route: 'POST /reservations/:id/grant',
      help: 'Grants a pending reservation.',
      run: (call) => reservations.grant(idOf(call)),
    },
    {
      route: 'POST /reservations/:id/deny',
      help: 'Denies a pending reservation.',
      run: (call) => reservations.deny(idOf(call)),
    },
  ]
}

function timingCommands(control: EquinixMetalControl): Command[] {
  return [
    {
      route: 'PUT /grants',
      help: '"at-once"; "review": a person decides, and fail-fast requests get 422; "late": always pending first.',
      example: '{"mode":"late","afterMs":3000}',
      fields: { mode: { enum: ['at-once', 'review', 'late'] }, afterMs: milliseconds },
      required: ['mode'],
      run: ({ body }) => control.setGrants(body as State['grants']),
    },
  ]
}

function capacityCommands(control: EquinixMetalControl): Command[] {
  return [
    {
      route: 'PUT /room',
      help: 'Sets how many devices of a plan a metro has room for, with those that it has.',
      example: '{"metro":"da","plan":"c3.small.x86","devices":2}',
      fields: { metro: text, plan: text, devices: { type: 'integer', minimum: 0 } },
      required: ['metro', 'plan', 'devices'],
      run: ({ body }) => control.setRoom(body as Parameters<EquinixMetalControl['setRoom']>[0]),
    },
  ]
}

function deviceCommands(state: State, { devices }: EquinixMetalControl): Command[] {
  return [
    {
      route: 'POST /devices',
      help: 'Adds an active device.',
      example: '{"hostname":"worker-1","metro":"da"}',
      fields: { hostname: text, project: text, metro: text, plan: text, tags: texts, state: deviceState },
      required: ['hostname'],
      run: ({ body }) => devices.add(body as NewDevice),
    },
    {
      route: 'PUT /devices/:id/state',
      help: 'Sets the state of a device.',
      example: '{"state":"failed"}',
      fields: { state: deviceState },
      required: ['state'],
      run: (call) => devices.setState(idOf(call), (call.body as { state: 'active' }).state),
    },
    {
      route: 'GET /devices/:id/metadata-service/metadata',
      help: "The device's metadata service. Its base URL is the part before the last /metadata.",
      run(call) {
        const device = state.devices.get(idOf(call))
        if (!device) throw new ControlError(`no device has the id "${idOf(call)}"`, 404)
        return metadataOf(state, device)
      },
    },
  ]
}

function bgpCommands({ bgp }: EquinixMetalControl): Command[] {
  return [
    {
      route: 'PATCH /bgp/sessions/:id',
      help: 'Sets what a BGP session shows: a word for each switch, and the learned routes.',
      example: '{"status":"up,up","learnedRoutes":["203.0.113.40/32"]}',
      fields: { status: text, learnedRoutes: texts },
      run: (call) => bgp.setSession(idOf(call), call.body as { status?: string; learnedRoutes?: string[] }),
    },
    {
      route: 'PUT /projects/:id/bgp-status',
      help: 'Enables a requested (global) BGP configuration, or disables one.',
      example: '{"status":"enabled"}',
      fields: { status: { enum: ['requested', 'enabled', 'disabled'] } },
      required: ['status'],
      run: (call) => bgp.setStatus(idOf(call), (call.body as { status: 'enabled' }).status),
    },
  ]
}
