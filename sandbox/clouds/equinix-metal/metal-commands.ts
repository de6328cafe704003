import type { Command } from '../door.ts'
import { ControlError } from '../control-error.ts'
import { metadataOf } from './metadata.ts'
import type { EquinixMetalDoor, NewDevice } from './metal-door.ts'
import { type State, deviceStates } from './state.ts'
import { type Unknowns, questions } from './unknowns.ts'

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const milliseconds = { type: 'number', minimum: 0 }
const deviceState = { enum: [...deviceStates] }

/** What the door of a simulated Equinix Metal does over HTTP. */
export function metalCommands(state: State, door: EquinixMetalDoor): Command[] {
  return [
    ...reservationCommands(door),
    ...timingCommands(door),
    ...deviceCommands(state, door),
    ...bgpCommands(door),
    ...unknownCommands(door),
  ]
}

const idOf = ({ params }: { params: Record<string, string> }) => params['id'] ?? ''

function reservationCommands({ reservations }: EquinixMetalDoor): Command[] {
  return [
    { route: 'GET /reservations', help: 'Every reservation of every project.', run: () => reservations.all() },
    {
      route: 'POST /reservations/:id/grant',
      help: 'Grants a pending one.',
      run: (call) => reservations.grant(idOf(call)),
    },
    { route: 'POST /reservations/:id/deny', help: 'Denies it.', run: (call) => reservations.deny(idOf(call)) },
    {
      route: 'DELETE /reservations/:id',
      help: 'It vanishes, and nobody deleted it.',
      run: (call) => reservations.vanish(idOf(call)),
    },
  ]
}

function timingCommands(door: EquinixMetalDoor): Command[] {
  return [
    {
      route: 'PUT /grants',
      help: '"at-once"; "review": a person decides, who asks to fail fast is refused; "late": pending first, always.',
      example: '{"mode":"late","afterMs":3000}',
      fields: { mode: { enum: ['at-once', 'review', 'late'] }, afterMs: milliseconds },
      required: ['mode'],
      run: ({ body }) => door.setGrants(body as State['grants']),
    },
    {
      route: 'PUT /deletion',
      help: 'How long what was deleted is still shown.',
      example: '{"reservationsMs":5000,"devicesMs":5000}',
      fields: { reservationsMs: milliseconds, devicesMs: milliseconds },
      run: ({ body }) => door.setDeletion(body as Partial<State['deletion']>),
    },
  ]
}

function deviceCommands(state: State, { devices }: EquinixMetalDoor): Command[] {
  return [
    { route: 'GET /devices', help: 'Every device of every project.', run: () => devices.all() },
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
    { route: 'POST /devices/:id/power-off', help: 'Switches it off.', run: (call) => devices.powerOff(idOf(call)) },
    { route: 'POST /devices/:id/power-on', help: 'Switches it on.', run: (call) => devices.powerOn(idOf(call)) },
    { route: 'DELETE /devices/:id', help: 'It is gone.', run: (call) => devices.remove(idOf(call)) },
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

function bgpCommands({ bgp }: EquinixMetalDoor): Command[] {
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

function unknownCommands(door: EquinixMetalDoor): Command[] {
  const fields = Object.fromEntries(
    Object.entries(questions).map(([question, answers]) => [question, { enum: [...answers] }]),
  )
  return [
    {
      route: 'GET /unknowns',
      help: 'How it behaves where nobody knows how the real one does, and the other possibilities.',
      run: () => ({ now: door.unknowns(), possible: questions }),
    },
    {
      route: 'PUT /unknowns',
      help: 'Makes it behave another way.',
      example: '{"listOrder":"oldest-first"}',
      fields,
      run({ body }) {
        door.setUnknowns(body as Partial<Unknowns>)
        return door.unknowns()
      },
    },
  ]
}
