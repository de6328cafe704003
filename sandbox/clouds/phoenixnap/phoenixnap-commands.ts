import { accountCommands, idOf, unknownCommands } from '../account-commands.ts'
import type { Command } from '../control.ts'
import type { NewServer, PhoenixnapControl } from './phoenixnap-control.ts'
import {
  type Block,
  type PeerGroup,
  type Server,
  groupStatuses,
  networkTypes,
  prefixStatuses,
  serverStatuses,
} from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }

/** Returns the commands of the control API of a simulated phoenixNAP. */
export function phoenixnapCommands(control: PhoenixnapControl): Command[] {
  return [
    ...accountCommands(control),
    ...serverCommands(control),
    ...resourceCommands(control),
    ...routerCommands(control),
    ...accessCommands(control),
    ...unknownCommands(behaviourChoices, control),
  ]
}

function serverCommands({ devices }: PhoenixnapControl): Command[] {
  return [
    {
      route: 'POST /devices',
      help: 'Adds a server that runs.',
      example: '{"hostname":"worker-1","location":"PHX"}',
      fields: { hostname: text, project: text, location: text, networkType: { enum: [...networkTypes] } },
      required: ['hostname'],
      run: ({ body }) => devices.add(body as NewServer),
    },
    {
      route: 'PUT /devices/:id/status',
      help: 'Sets the status that a server shows.',
      example: '{"status":"rebooting"}',
      fields: { status: { enum: [...serverStatuses] } },
      required: ['status'],
      run: (call) => devices.setStatus(idOf(call), (call.body as { status: Server['status'] }).status),
    },
  ]
}

function resourceCommands(control: PhoenixnapControl): Command[] {
  return [
    {
      route: 'POST /blocks',
      help: 'Adds an IP block that was ordered before, in any location, also a retired one.',
      example: '{"location":"AUS","size":29}',
      fields: { location: text, size: count, version: { enum: ['V4', 'V6'] } },
      required: ['location'],
      run: ({ body }) => control.blocks.add(body as Parameters<PhoenixnapControl['blocks']['add']>[0]),
    },
    {
      route: 'PUT /stock',
      help: 'Sets how many more IP blocks a location has.',
      example: '{"location":"PHX","blocks":0}',
      fields: { location: text, blocks: count },
      required: ['location', 'blocks'],
      run: ({ body }) => control.setStock(body as { location: string; blocks: number }),
    },
    {
      route: 'PUT /changes',
      help: 'Sets how long the changes of blocks and peer groups take.',
      example: '{"ms":5000}',
      fields: { ms: { type: 'number', minimum: 0 } },
      required: ['ms'],
      run: ({ body }) => control.setChanges(body as { ms: number }),
    },
  ]
}

function routerCommands({ blocks, peerGroups }: PhoenixnapControl): Command[] {
  return [
    {
      route: 'PUT /blocks/:id/prefix-status',
      help: 'Sets how far the routers are with an IP block.',
      example: '{"status":"ERROR"}',
      fields: { status: { enum: [...prefixStatuses] } },
      required: ['status'],
      run: (call) => blocks.setPrefixStatus(idOf(call), (call.body as { status: Block['prefixStatus'] }).status),
    },
    { route: 'GET /peer-groups', help: 'Lists the BGP peer groups.', run: () => peerGroups.all() },
    {
      route: 'PUT /peer-groups/:id/status',
      help: 'Sets the status that the BGP peer group of this location shows.',
      example: '{"status":"ON_HOLD"}',
      fields: { status: { enum: [...groupStatuses] } },
      required: ['status'],
      run: (call) => peerGroups.setStatus(idOf(call), (call.body as { status: PeerGroup['status'] }).status),
    },
    {
      route: 'DELETE /peer-groups/:id',
      help: 'Removes the BGP peer group of this location, as a person does in the portal.',
      run: (call) => peerGroups.remove(idOf(call)),
    },
  ]
}

function accessCommands({ access }: PhoenixnapControl): Command[] {
  return [
    {
      route: 'PUT /token-life',
      help: 'Sets for how many seconds new access tokens are valid.',
      example: '{"seconds":2}',
      fields: { seconds: count },
      required: ['seconds'],
      run: ({ body }) => access.setTokenLife((body as { seconds: number }).seconds),
    },
    {
      route: 'DELETE /access-tokens',
      help: 'Ends every access token before its time.',
      run: () => access.endTokens(),
    },
  ]
}
