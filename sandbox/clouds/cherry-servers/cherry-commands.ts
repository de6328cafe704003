import { accountCommands, idOf, unknownCommands } from '../account-commands.ts'
import type { Command } from '../control.ts'
import type { CallLimit, CherryServersControl, NewServer, ServerCondition } from './cherry-control.ts'
import { serverStates, serverStatuses } from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const number = { type: 'number' }
const tags = { type: 'object', additionalProperties: text }
const milliseconds = { type: 'number', minimum: 0 }
const afterMs = { fields: { afterMs: milliseconds }, required: ['afterMs'], example: '{"afterMs":3000}' }

/** Returns the commands of the control API of a simulated Cherry Servers. */
export function cherryCommands(control: CherryServersControl): Command[] {
  return [
    ...accountCommands(control),
    ...serverCommands(control),
    ...bgpCommands(control),
    ...timingCommands(control),
    ...unknownCommands(behaviourChoices, control),
  ]
}

function serverCommands({ devices }: CherryServersControl): Command[] {
  return [
    {
      route: 'POST /devices',
      help: 'Adds a running server.',
      example: '{"hostname":"worker-1","region":"LT-Siauliai"}',
      fields: { hostname: text, project: number, region: text, plan: text, tags },
      required: ['hostname'],
      run: ({ body }) => devices.add(body as NewServer),
    },
    {
      route: 'PUT /devices/:id/condition',
      help: 'Sets the state and the status that a server shows.',
      example: '{"state":"active","status":"deploying"}',
      fields: { state: { enum: [...serverStates] }, status: { enum: [...serverStatuses] } },
      run: (call) => devices.setCondition(idOf(call), call.body as ServerCondition),
    },
  ]
}

function bgpCommands({ bgp, projects }: CherryServersControl): Command[] {
  return [
    { route: 'GET /projects', help: 'Lists the projects.', run: () => projects.all() },
    {
      route: 'POST /devices/:id/bgp/off',
      help: 'Disables BGP for a server, as another tool does that edits it.',
      run: (call) => bgp.turnOff(idOf(call)),
    },
    {
      route: 'POST /projects/:id/bgp/off',
      help: 'Disables BGP for a project.',
      run: (call) => bgp.turnOffProject(idOf(call)),
    },
    {
      route: 'PUT /devices/:id/bgp/session',
      help: "Sets how many of the region's routers have a session with a server, and their learned routes.",
      example: '{"connected":2,"routes":["203.0.113.0/32"]}',
      fields: { connected: { type: 'integer' }, routes: texts },
      run: (call) => bgp.setSession(idOf(call), call.body as { connected?: number; routes?: string[] }),
    },
  ]
}

function timingCommands(control: CherryServersControl): Command[] {
  return [
    {
      route: 'PUT /local-asn',
      help: 'Sets how long a project waits for its ASN after BGP is enabled for a server.',
      ...afterMs,
      run: ({ body }) => control.setLocalAsn(body as { afterMs: number }),
    },
    {
      route: 'PUT /listing',
      help: 'Sets how long lists do not show a new address.',
      ...afterMs,
      run: ({ body }) => control.setListing(body as { afterMs: number }),
    },
    {
      route: 'PUT /call-limit',
      help: 'Limits the calls of a client. With "retryAfter" a 429 has a Retry-After header.',
      example: '{"calls":4,"perMs":1000,"retryAfter":true}',
      fields: { calls: { type: 'integer', minimum: 0 }, perMs: milliseconds, retryAfter: { type: 'boolean' } },
      required: ['calls', 'perMs'],
      run: ({ body }) => control.setCallLimit(body as CallLimit),
    },
    { route: 'DELETE /call-limit', help: 'Removes the limit.', run: () => control.setCallLimit(undefined) },
  ]
}
