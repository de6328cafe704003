import { ControlError, findById } from '../control-error.ts'
import type { AccountControl, CloudControl, Json } from '../control.ts'
import type { Access } from './access.ts'
import { addBlock, addressesOf, removeBlock, removeServer } from './blocks.ts'
import { addNetwork } from './network-routes.ts'
import { renderBlock, renderPeerGroup, renderServer } from './render.ts'
import {
  type Block,
  type PeerGroup,
  type Server,
  type State,
  locations,
  networkTypes,
  retiredLocation,
  serverStatuses,
} from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type NewServer = {
  hostname: string
  project?: string
  location?: string
  networkType?: Server['networkType']
}

/** The controls of a simulated phoenixNAP, in addition to those of every cloud. Its reservations are IP blocks. */
export type PhoenixnapControl = AccountControl & {
  devices: {
    add(server: NewServer): Json
    setStatus(id: string, status: Server['status']): Json
  }
  blocks: {
    /** Adds a block of the first account that was ordered before, in any location and of any size. */
    add(block: { location: string; size?: number; version?: Block['version'] }): Json
    setStatus(id: string, status: Block['status']): Json
    /** Sets the routers' progress with a block. */
    setPrefixStatus(id: string, status: Block['prefixStatus']): void
  }
  peerGroups: {
    all(): Json[]
    /** Completes a peer group's pending change at once. */
    settle(id: string): void
    /** Sets the status that the peer group of a location shows. */
    setStatus(location: string, status: PeerGroup['status']): void
    /** Removes the peer group of a location, as a person does in the portal. */
    remove(location: string): void
  }
  /** Sets how many more blocks a location has. */
  setStock(stock: { location: string; blocks: number }): void
  /** Sets how long the changes of blocks and peer groups take. */
  setChanges(changes: { ms: number }): void
  access: Pick<Access, 'setTokenLife' | 'endTokens'>
  unknowns(): UnknownBehaviour
  setUnknowns(given: Partial<UnknownBehaviour>): void
}

/** Makes the controls; servers are added to the first account. */
export function makePhoenixnapControl(
  state: State,
  shared: CloudControl,
  parts: { access: Access; account: string },
): PhoenixnapControl {
  const { access, account } = parts
  const blockOf = (id: string) => {
    state.runDue()
    return findById(state.blocks, id, 'IP block')
  }
  return {
    ...shared,
    tokens: access.tokens.control,
    access,
    reservations: reservationControl(state, blockOf),
    devices: deviceControl(state, account),
    blocks: {
      add({ location, size = 31, version = 'V4' }) {
        if (location !== retiredLocation && !Object.hasOwn(locations, location))
          throw new ControlError(`no location "${location}"`)
        return renderBlock(state, addBlock(state, { account, location, size, version }))
      },
      setStatus(id, status) {
        const block = blockOf(id)
        block.status = status
        return renderBlock(state, block)
      },
      setPrefixStatus: (id, status) => void (blockOf(id).prefixStatus = status),
    },
    peerGroups: peerGroupControl(state),
    setStock: ({ location, blocks }) => void state.stock.set(location, blocks),
    setChanges: ({ ms }) => void (state.changeMs = ms),
    setDeletion: (deletion) => void Object.assign(state.deletion, deletion),
    unknowns: () => ({ ...state.behaviour }),
    setUnknowns: (given) => void (state.behaviour = chooseBehaviour({ ...state.behaviour, ...given })),
  }
}

function reservationControl(state: State, blockOf: (id: string) => Block): PhoenixnapControl['reservations'] {
  const all = () => {
    state.runDue()
    return [...state.blocks.values()]
  }
  return {
    all: () => all().map((block) => renderBlock(state, block)),
    deleting: () => all().flatMap(({ id, isDeleting }) => (isDeleting ? [id] : [])),
    vanish: (id) => removeBlock(state, blockOf(id)),
    // A server has only its own block: any other reaches it through a public network.
    assign(id, machine) {
      const block = blockOf(id)
      Object.assign(block, { status: 'unassigned', user: undefined })
      for (const network of state.networks.values())
        network.members = network.members.filter(({ ips }) => !ips.some((ip) => addressesOf(block).includes(ip)))
      if (machine === undefined) return
      const { account, location } = block
      const network = addNetwork(state, { account, location, name: `for ${block.cidr}` })
      Object.assign(block, { status: 'assigned', user: { kind: 'network', id: network.id } })
      const ips = addressesOf(block).slice(-1)
      network.members.push({ server: findById(state.servers, machine, 'server').id, ips })
    },
  }
}

function deviceControl(state: State, first: string): PhoenixnapControl['devices'] {
  const serverOf = (id: string) => {
    state.runDue()
    return findById(state.servers, id, 'server')
  }
  const setStatus = (id: string, status: Server['status']) => {
    if (!serverStatuses.includes(status))
      throw new ControlError(`"${status}": expected one of ${serverStatuses.join(', ')}`)
    const server = serverOf(id)
    server.status = status
    return renderServer(state, server)
  }
  return {
    all: () => [...state.servers.values()].map((server) => renderServer(state, server)),
    add: (wanted) => renderServer(state, addServer(state, { project: first, ...wanted })),
    setStatus,
    powerOff: (id) => setStatus(id, 'powered-off'),
    powerOn: (id) => setStatus(id, 'powered-on'),
    remove(id) {
      const server = serverOf(id)
      const { devicesMs } = state.deletion
      if (devicesMs === 0) return removeServer(state, server, { keepsBlocks: true })
      server.status = 'deleting'
      state.schedule(devicesMs, () => removeServer(state, server, { keepsBlocks: true }))
    },
  }
}

function addServer(state: State, wanted: NewServer & { project: string }): Server {
  const { hostname, project: account, location = 'PHX', networkType = 'PUBLIC_AND_PRIVATE' } = wanted
  if (!Object.hasOwn(locations, location)) throw new ControlError(`no location "${location}"`)
  if (!networkTypes.includes(networkType)) throw new ControlError(`no network type "${networkType}"`)
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

function peerGroupControl(state: State): PhoenixnapControl['peerGroups'] {
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
    all: () => all().map((group) => renderPeerGroup(state, group)),
    settle(id) {
      const group = findById(state.groups, id, 'peer group')
      Object.assign(group, { status: 'READY', activeAsn: group.targetAsn })
    },
    setStatus: (location, status) => void (groupIn(location).status = status),
    remove: (location) => void state.groups.delete(groupIn(location).id),
  }
}
