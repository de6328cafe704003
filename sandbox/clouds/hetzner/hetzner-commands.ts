import { accountCommands, idOf, unknownCommands } from '../account-commands.ts'
import type { Command } from '../control.ts'
import type { CallLimit, HetznerControl, NewServer } from './hetzner-control.ts'
import { type Server, serverStatuses } from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

const text = { type: 'string' }
const milliseconds = { type: 'number', minimum: 0 }

/** Returns the commands of the control API of a simulated Hetzner Cloud. */
export function hetznerCommands(control: HetznerControl): Command[] {
  return [
    ...accountCommands(control),
    ...serverCommands(control),
    ...timingCommands(control),
    ...unknownCommands(behaviourChoices, control),
  ]
}

function serverCommands(control: HetznerControl): Command[] {
  const { devices } = control
  return [
    {
      route: 'POST /devices',
      help: 'Adds a running server.',
      example: '{"hostname":"worker-1","location":"fsn1"}',
      fields: { hostname: text, project: text, location: text, hasIpv4: { type: 'boolean' } },
      required: ['hostname'],
      run: ({ body }) => devices.add(body as NewServer),
    },
    {
      route: 'PUT /devices/:id/status',
      help: 'Sets the status that a server shows.',
      example: '{"status":"rebuilding"}',
      fields: { status: { enum: [...serverStatuses] } },
      required: ['status'],
      run: (call) => devices.setStatus(idOf(call), (call.body as { status: Server['status'] }).status),
    },
    {
      route: 'PUT /floating-ips/:id/blocked',
      help: 'Blocks an address, as the vendor does, or ends that.',
      example: '{"blocked":true}',
      fields: { blocked: { type: 'boolean' } },
      required: ['blocked'],
      run: (call) => control.floatingIps.setBlocked(idOf(call), (call.body as { blocked: boolean }).blocked),
    },
    {
      route: 'GET /routes/:id',
      help: 'Shows the server that gets the traffic of an address.',
      run: (call) => ({ server: control.route(idOf(call)) ?? null }),
    },
  ]
}

function timingCommands(control: HetznerControl): Command[] {
  return [
    {
      route: 'PUT /actions',
      help: 'Sets how long actions run, and the error with which they end; null is none.',
      example: '{"ms":3000,"error":{"code":"unknown_error","message":"server is locked"}}',
      fields: { ms: milliseconds, error: {} },
      run: ({ body }) => control.setActions(body as Parameters<HetznerControl['setActions']>[0]),
    },
    {
      route: 'PUT /call-limit',
      help: 'Limits the calls of a project: a bucket, and how soon it gets one more.',
      example: '{"calls":3600,"refillMs":1000}',
      fields: { calls: { type: 'integer', minimum: 0 }, refillMs: milliseconds },
      required: ['calls', 'refillMs'],
      run: ({ body }) => control.setCallLimit(body as CallLimit),
    },
    { route: 'DELETE /call-limit', help: 'Removes the limit.', run: () => control.setCallLimit(undefined) },
  ]
}
