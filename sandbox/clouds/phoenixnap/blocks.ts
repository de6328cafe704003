import { BlockList, isIP } from 'node:net'
import { textOf } from '../request-body.ts'
import type { ApiError } from '../api-error.ts'
import { invalid, refused } from './errors.ts'
import { locationIn } from './route-context.ts'
import type { Block, Server, State } from './state.ts'
import { readTags } from './tags.ts'

type Body = Record<string, unknown>

const sizes = { V4: ['/31', '/30', '/29', '/28'], V6: ['/64'] }
const maxDescription = 250

/** Creates a block from the body of a request. */
export function createBlock(state: State, account: string, body: Body): Block {
  const location = locationIn(body['location'])
  const version = body['ipVersion'] ?? 'V4'
  if (version !== 'V4' && version !== 'V6') throw invalid('ipVersion: must be V4 or V6')
  const size = textOf(body['cidrBlockSize'])
  if (!sizes[version].includes(size)) throw invalid(`cidrBlockSize: must be one of ${sizes[version].join(', ')}`)
  const description = readDescription(body['description'])
  const tags = readTags(state, account, body['tags'])
  const current = [...state.blocks.values()].filter((one) => one.account === account && !one.isSystemManaged).length
  if (current >= state.quota.of(account)) throw overQuota(state)
  const left = state.stock.get(location)
  if (left === 0) throw refused(406)
  const block = addBlock(state, { account, location, version, size: Number(size.slice(1)), description, tags })
  if (left !== undefined) state.stock.set(location, left - 1)
  if (state.behaviour.newBlock === 'creating') {
    block.status = 'creating'
    state.later(() => void (block.status = 'unassigned'))
  }
  return block
}

type NewBlock = Pick<Block, 'account' | 'location' | 'version' | 'size'> & Partial<Block>

/** Adds a block without an order: one that the vendor gives a server, or one in a retired location. */
export function addBlock(state: State, wanted: NewBlock): Block {
  const { version, size, isSystemManaged = false } = wanted
  const found =
    version === 'V6'
      ? { cidr: state.newNetwork(), free: () => {} }
      : state.allocate(isSystemManaged ? 'own' : 'ordered', size)
  if (!found) throw refused(406)
  const block: Block = {
    id: state.newId(),
    status: 'unassigned',
    prefixStatus: 'READY',
    user: undefined,
    description: '',
    tags: [],
    isSystemManaged,
    createdAtMs: state.now(),
    ...wanted,
    cidr: found.cidr,
    free: found.free,
  }
  state.blocks.set(block.id, block)
  return block
}

/** Deletes a block that nothing uses. */
export function deleteBlock(state: State, block: Block): void {
  if (block.isDeleting) return
  if (block.status !== 'unassigned' || block.isSystemManaged)
    throw refused(Number(state.behaviour.deleteAssigned), `IP Block is in status ${block.status}.`)
  const { reservationsMs } = state.deletion
  if (reservationsMs === 0) return removeBlock(state, block)
  block.isDeleting = true
  state.schedule(reservationsMs, () => removeBlock(state, block))
}

/** Removes a block at once. */
export function removeBlock(state: State, block: Block): void {
  if (state.blocks.delete(block.id)) block.free()
  for (const network of state.networks.values())
    for (const member of network.members) member.ips = member.ips.filter((ip) => !isIn(block, ip))
}

/** Assigns a block to a server or a public network, after a while. */
export function assignBlock(state: State, block: Block, user: NonNullable<Block['user']>): void {
  if (block.status !== 'unassigned') throw refused(409, `IP Block is in status ${block.status}.`)
  Object.assign(block, { status: 'assigning', user })
  state.later(() => {
    if (block.status === 'assigning') block.status = 'assigned'
  })
}

/** Unassigns a block, after a while. The account keeps it, unless the caller gives it up as well. */
export function unassignBlock(state: State, block: Block, { isGivenUp = false } = {}): void {
  if (block.status !== 'assigned') throw refused(409, `IP Block is in status ${block.status}.`)
  freeBlock(state, block, () => {
    if (isGivenUp) removeBlock(state, block)
  })
}

/** Frees a block after a while, even one that is still being assigned. */
export function freeBlock(state: State, block: Block, then: () => void = () => {}): void {
  block.status = 'unassigning'
  state.later(() => {
    if (block.status !== 'unassigning') return
    Object.assign(block, { status: 'unassigned', user: undefined })
    then()
  })
}

/** The blocks that a server or a public network has. */
export function blocksOf({ blocks }: State, id: string): Block[] {
  return [...blocks.values()].filter(({ user }) => user?.id === id)
}

/** Whether an address is one of a block, or both ends of a range are. */
export function isIn({ cidr, size, version }: Block, text: string): boolean {
  const [first = ''] = cidr.split('/')
  const family = version === 'V6' ? 'ipv6' : 'ipv4'
  const all = new BlockList()
  all.addSubnet(first, size, family)
  return text.split(' - ').every((ip) => isIP(ip) === (version === 'V6' ? 6 : 4) && all.check(ip, family))
}

/** The addresses of a block, the lowest first. */
export function addressesOf({ cidr, size, version }: Block): string[] {
  if (version === 'V6') return []
  const [first = ''] = cidr.split('/')
  const [last = ''] = first.split('.').slice(-1)
  const start = first.slice(0, first.length - last.length)
  return Array.from({ length: 2 ** (32 - size) }, (_, n) => `${start}${Number(last) + n}`)
}

/**
 * Removes a server with its memberships and its blocks. With `keepsBlocks`, the account keeps the blocks that it
 * ordered.
 */
export function removeServer(state: State, server: Server, { keepsBlocks = false } = {}): void {
  state.servers.delete(server.id)
  for (const network of state.networks.values())
    network.members = network.members.filter((member) => member.server !== server.id)
  for (const block of blocksOf(state, server.id)) {
    if (!keepsBlocks || block.isSystemManaged) removeBlock(state, block)
    else Object.assign(block, { status: 'unassigned', user: undefined })
  }
}

/** Reads the description of a request. */
export function readDescription(given: unknown): string {
  const text = textOf(given)
  if (text.length > maxDescription) throw invalid(`description: size must be between 0 and ${maxDescription}`)
  return text
}

function overQuota({ behaviour }: State): ApiError {
  if (behaviour.overQuota === '406') return refused(406)
  return refused(Number(behaviour.overQuota), 'The limit of IP Blocks of the account is exceeded.')
}
