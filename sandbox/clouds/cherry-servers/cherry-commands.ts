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

/** What the door of a simulated Cherry Servers does over HTTP. */
export function cherryCommands(door: CherryServersControl): Command[] {
  return [
    ...accountCommands(door),
    ...serverCommands(door),
    ...bgpCommands(door),
    ...timingCommands(door),
    ...unknownCommands(behaviourChoices, door),
  ]
}

function serverCommands({ devices }: CherryServersControl): Command[] {
  return [
    {
      route: 'POST /devices',
      help: 'Adds a server that runs at once.',
      example: '{"hostname":"worker-1","region":"LT-Siauliai"}',
      fields: { hostname: text, project: number, region: text, plan: text, tags },
      required: ['hostname'],
      run: ({ body }) => devices.add(body as NewServer),
    },
    {
      route: 'PUT /devices/:id/condition',
      help: 'The words that it shows of how it is.',
      example: '{"state":"active","status":"deploying"}',
      fields: { state: { enum: [...serverStates] }, status: { enum: [...serverStatuses] } },
      run: (call) => devices.setCondition(idOf(call), call.body as ServerCondition),
    },
  ]
}

function bgpCommands({ bgp, projects }: CherryServersControl): Command[] {
  return [
    { route: 'GET /projects', help: 'Every project.', run: () => projects.all() },
    {
      route: 'POST /devices/:id/bgp/off',
      help: 'BGP goes off for a server, as when another tool edits it.',
      run: (call) => bgp.turnOff(idOf(call)),
    },
    {
      route: 'POST /projects/:id/bgp/off',
      help: 'The same for a project.',
      run: (call) => bgp.turnOffProject(idOf(call)),
    },
    {
      route: 'PUT /devices/:id/bgp/session',
      help: "How many of the region's routers have a session with a server, and the routes that they have learned.",
      example: '{"connected":2,"routes":["203.0.113.0/32"]}',
      fields: { connected: { type: 'integer' }, routes: texts },
      run: (call) => bgp.setSession(idOf(call), call.body as { connected?: number; routes?: string[] }),
    },
  ]
}

function timingCommands(door: CherryServersControl): Command[] {
  return [
    {
      route: 'PUT /local-asn',
      help: 'How long a project waits for its ASN once BGP is on for a server.',
      ...afterMs,
      run: ({ body }) => door.setLocalAsn(body as { afterMs: number }),
    },
    {
      route: 'PUT /listing',
      help: 'How long a new address is missing from lists.',
      ...afterMs,
      run: ({ body }) => door.setListing(body as { afterMs: number }),
    },
    {
      route: 'PUT /call-limit',
      help: 'How many calls a client may send; "retryAfter": a 429 says when to come back.',
      example: '{"calls":4,"perMs":1000,"retryAfter":true}',
      fields: { calls: { type: 'integer', minimum: 0 }, perMs: milliseconds, retryAfter: { type: 'boolean' } },
      required: ['calls', 'perMs'],
      run: ({ body }) => door.setCallLimit(body as CallLimit),
    },
    { route: 'DELETE /call-limit', help: 'As many as it likes.', run: () => door.setCallLimit(undefined) },
  ]
}
