import { command, count, milliseconds, text } from '../command.ts'
import { ControlError, findById } from '../control-error.ts'
import { type CloudControl, accountControl, statusControl } from '../control.ts'
import type { Access } from './access.ts'
import { addBlock, addressesOf, removeBlock, removeServer } from './blocks.ts'
import { addNetwork } from './network-routes.ts'
import { renderBlock, renderPeerGroup, renderServer } from './render.ts'
import {
  type Block,
  type PeerGroup,
  type Server,
  type State,
  groupStatuses,
  locations,
  networkTypes,
  prefixStatuses,
  retiredLocation,
  serverStatuses,
} from './state.ts'
import { behaviourChoices } from './unknown-behaviour.ts'

export type NewServer = {
  hostname: string
  project?: string
  location?: string
  networkType?: Server['networkType']
}

/** Makes the controls; servers are added to the first account. Its reservations are IP blocks. */
export function makePhoenixnapControl(
  state: State,
  shared: CloudControl,
  { access, account }: { access: Access; account: string },
) {
  const common = accountControl({
    state,
    choices: behaviourChoices,
    tokens: access.tokens.control,
    reservations: {
      all: state.blocks,
      kind: 'IP block',
      show: (block) => renderBlock(state, block),
      remove: (block) => removeBlock(state, block),
      assign: (block, server) => assign(state, block, server),
    },
    devices: {
      all: state.servers,
      kind: 'server',
      show: (server) => renderServer(state, server),
      add: (wanted: NewServer) => addServer(state, { project: account, ...wanted }),
      power: (server, to) => void (server.status = `powered-${to}`),
      remove: (server) => remove(state, server),
      fields: { location: text, networkType: { enum: [...networkTypes] } },
      example: '{"hostname":"worker-1","location":"PHX"}',
    },
  })
  return {
    ...shared,
    ...common,
    devices: {
      ...common.devices,
      setStatus: statusControl(state, serverStatuses, (server) => renderServer(state, server)),
    },
    blocks: blockControl(state, account),
    peerGroups: peerGroupControl(state),
    ...supplyControl(state),
    access: access.control,
  }
}

/** A server has only its own block: any other reaches it through a public network. */
function assign(state: State, block: Block, server: Server | undefined): void {
  Object.assign(block, { status: 'unassigned', user: undefined })
  for (const network of state.networks.values())
    network.members = network.members.filter(({ ips }) => !ips.some((ip) => addressesOf(block).includes(ip)))
  if (!server) return
  const { account, location } = block
  const network = addNetwork(state, { account, location, name: `for ${block.cidr}` })
  Object.assign(block, { status: 'assigned', user: { kind: 'network', id: network.id } })
  network.members.push({ server: server.id, ips: addressesOf(block).slice(-1) })
}

function remove(state: State, server: Server): void {
  const { devicesMs } = state.deletion
  if (devicesMs === 0) return removeServer(state, server, { keepsBlocks: true })
  server.status = 'deleting'
  state.schedule(devicesMs, () => removeServer(state, server, { keepsBlocks: true }))
}

function addServer(state: State, wanted: NewServer & { project: string }): Server {
  const { hostname, project: account, location = 'PHX', networkType = 'PUBLIC_AND_PRIVATE' } = wanted
  if (!Object.hasOwn(locations, location)) throw new ControlError(`no location "${location}"`)
  const server: Server = {
    id: state.newId(),
    account,
    hostname,
    description: '',
    location,
    networkType,
    status: 'powered-on',
    privateAddress: networkType === 'PUBLIC_ONLY' ? undefined : state.newPrivateAddress(),
    tags: [],
    createdAtMs: state.now(),
  }
  state.servers.set(server.id, server)
  if (networkType !== 'PRIVATE_ONLY')
    addBlock(state, {
      account,
      location,
      version: 'V4',
      size: 31,
      isSystemManaged: true,
      status: 'assigned',
      user: { kind: 'server', id: server.id },
    })
  return server
}

type NewBlock = { location: string; size?: number; version?: Block['version'] }

function blockControl(state: State, account: string) {
  const find = (id: string) => {
    state.runDue()
    return findById(state.blocks, id, 'IP block')
  }
  return {
    add: command(
      {
        route: 'POST /blocks',
        help: 'Adds an IP block that was ordered before, in any location, also a retired one.',
        example: '{"location":"AUS","size":29}',
        fields: { location: text },
        optional: { size: count, version: { enum: ['V4', 'V6'] } },
      },
      ({ location, size = 31, version = 'V4' }: NewBlock) => {
        if (location !== retiredLocation && !Object.hasOwn(locations, location))
          throw new ControlError(`no location "${location}"`)
        return renderBlock(state, addBlock(state, { account, location, size, version }))
      },
    ),
    setStatus: (id: string, status: Block['status']) => renderBlock(state, Object.assign(find(id), { status })),
    setPrefixStatus: command(
      {
        route: 'PUT /blocks/:id/prefix-status',
        help: 'Sets how far the routers are with an IP block.',
        example: '{"status":"ERROR"}',
        fields: { status: { enum: [...prefixStatuses] } },
        spreads: true,
      },
      (id: string, status: Block['prefixStatus']) => void (find(id).prefixStatus = status),
    ),
  }
}

function peerGroupControl(state: State) {
  const all = () => {
    state.runDue()
    return [...state.groups.values()]
  }
  const groupIn = (location: string) => {
    const found = all().find((group) => group.location === location)
    if (!found) throw new ControlError(`location ${location} has no peer group`, 404)
    return found
  }
  return {
    all: command({ route: 'GET /peer-groups', help: 'Lists the BGP peer groups.' }, () =>
      all().map((group) => renderPeerGroup(state, group)),
    ),
    /** Completes a peer group's pending change at once. */
    settle(id: string) {
      const group = findById(state.groups, id, 'peer group')
      Object.assign(group, { status: 'READY', activeAsn: group.targetAsn })
    },
    setStatus: command(
      {
        route: 'PUT /peer-groups/:id/status',
        help: 'Sets the status that the BGP peer group of this location shows.',
        example: '{"status":"ON_HOLD"}',
        fields: { status: { enum: [...groupStatuses] } },
        spreads: true,
      },
      (location: string, status: PeerGroup['status']) => void (groupIn(location).status = status),
    ),
    remove: command(
      {
        route: 'DELETE /peer-groups/:id',
        help: 'Removes the BGP peer group of this location, as a person does in the portal.',
      },
      (location: string) => void state.groups.delete(groupIn(location).id),
    ),
  }
}

function supplyControl(state: State) {
  return {
    setStock: command(
      {
        route: 'PUT /stock',
        help: 'Sets how many more IP blocks a location has.',
        example: '{"location":"PHX","blocks":0}',
        fields: { location: text, blocks: count },
      },
      ({ location, blocks }: { location: string; blocks: number }) => void state.stock.set(location, blocks),
    ),
    setChanges: command(
      {
        route: 'PUT /changes',
        help: 'Sets how long the changes of blocks and peer groups take.',
        example: '{"ms":5000}',
        fields: { ms: milliseconds },
      },
      ({ ms }: { ms: number }) => void (state.changeMs = ms),
    ),
  }
}
