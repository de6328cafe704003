import { accountCommands, idOf, unknownCommands } from '../account-commands.ts'
import type { Command } from '../control.ts'
import { ControlError } from '../control-error.ts'
import { metadataOf } from './metadata.ts'
import type { EquinixMetalControl, NewDevice } from './metal-control.ts'
import { type State, deviceStates } from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const milliseconds = { type: 'number', minimum: 0 }
const deviceState = { enum: [...deviceStates] }

/** What the door of a simulated Equinix Metal does over HTTP. */
export function metalCommands(state: State, door: EquinixMetalControl): Command[] {
  return [
    ...accountCommands(door),
    ...reservationCommands(door),
    ...timingCommands(door),
    ...deviceCommands(state, door),
    ...bgpCommands(door),
    ...unknownCommands(behaviourChoices, door),
  ]
}

function reservationCommands({ reservations }: EquinixMetalControl): Command[] {
  return [
    {
      route: 'POST /reservations/:id/grant',
      help: 'Grants a pending one.',
      run: (call) => reservations.grant(idOf(call)),
    },
    { route: 'POST /reservations/:id/deny', help: 'Denies it.', run: (call) => reservations.deny(idOf(call)) },
  ]
}

function timingCommands(door: EquinixMetalControl): Command[] {
  return [
    {
      route: 'PUT /grants',
      help: '"at-once"; "review": a person decides, who asks to fail fast is refused; "late": pending first, always.',
      example: '{"mode":"late","afterMs":3000}',
      fields: { mode: { enum: ['at-once', 'review', 'late'] }, afterMs: milliseconds },
      required: ['mode'],
      run: ({ body }) => door.setGrants(body as State['grants']),
    },
  ]
}

function deviceCommands(state: State, { devices }: EquinixMetalControl): Command[] {
  return [
    {
      route: 'POST /devices',
      help: 'Adds a device that is active at once.',
      example: '{"hostname":"worker-1","metro":"da"}',
      fields: { hostname: text, project: text, metro: text, plan: text, tags: texts, state: deviceState },
      required: ['hostname'],
      run: ({ body }) => devices.add(body as NewDevice),
    },
    {
      route: 'PUT /devices/:id/state',
      help: 'Puts it into a state.',
      example: '{"state":"failed"}',
      fields: { state: deviceState },
      required: ['state'],
      run: (call) => devices.setState(idOf(call), (call.body as { state: 'active' }).state),
    },
    {
      route: 'GET /devices/:id/metadata-service/metadata',
      help: "That device's metadata service; its base URL is all before the last /metadata.",
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
      help: 'What a BGP session shows: a word for each switch, learned routes.',
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
