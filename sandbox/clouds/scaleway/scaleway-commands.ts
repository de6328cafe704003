import { accountCommands, idOf, unknownCommands } from '../account-commands.ts'
import type { Command } from '../control.ts'
import type { NewServer, ScalewayControl } from './scaleway-control.ts'
import { type Server, serverStatuses } from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

const text = { type: 'string' }

/** Returns the commands of the control API of a simulated Scaleway. */
export function scalewayCommands(control: ScalewayControl): Command[] {
  return [
    ...accountCommands(control),
    ...serverCommands(control),
    ...addressCommands(control),
    ...unknownCommands(behaviourChoices, control),
  ]
}

function serverCommands({ devices }: ScalewayControl): Command[] {
  return [
    {
      route: 'POST /devices',
      help: 'Adds a server that runs.',
      example: '{"hostname":"worker-1","zone":"fr-par-1"}',
      fields: { hostname: text, project: text, zone: text },
      required: ['hostname'],
      run: ({ body }) => devices.add(body as NewServer),
    },
    {
      route: 'PUT /devices/:id/status',
      help: 'Sets the status that a server shows.',
      example: '{"status":"migrating"}',
      fields: { status: { enum: [...serverStatuses] } },
      required: ['status'],
      run: (call) => devices.setStatus(idOf(call), (call.body as { status: Server['status'] }).status),
    },
  ]
}

function addressCommands(control: ScalewayControl): Command[] {
  return [
    {
      route: 'GET /routes/:id',
      help: 'Shows the server that gets the traffic of an address.',
      run: (call) => ({ server: control.route(idOf(call)) ?? null }),
    },
    {
      route: 'PUT /changes',
      help: 'Sets how long a server takes to attach or detach an address, and whether that fails.',
      example: '{"ms":5000,"fail":false}',
      fields: { ms: { type: 'number', minimum: 0 }, fail: { type: 'boolean' } },
      run: ({ body }) => control.setChanges(body as Parameters<ScalewayControl['setChanges']>[0]),
    },
    {
      route: 'PUT /server-limit',
      help: 'Sets how many addresses a server has at most.',
      example: '{"addresses":2}',
      fields: { addresses: { type: 'integer', minimum: 0 } },
      required: ['addresses'],
      run: ({ body }) => control.setServerLimit(body as { addresses: number }),
    },
    {
      route: 'PUT /reservations/:id/lock',
      help: 'Locks an address, as the vendor does.',
      run: (call) => control.lock(idOf(call)),
    },
  ]
}
