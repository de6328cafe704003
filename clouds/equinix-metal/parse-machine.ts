import { isIPv4 } from 'node:net'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { formatIpv4Network } from '../../lib/ip-range.ts'
import { countOf, type Fields, fieldsOf, itemsOf, textOf } from '../loose-json.ts'
import type { Machine, MachineAddress } from '../machines.ts'
import type { ProjectOptions } from './project.ts'

/** The machine in an answer; undefined where it has no id to know it by. */
export function parseMachine(body: unknown, { places }: ProjectOptions = {}): Machine | undefined {
  const device = fieldsOf(body)
  const id = textOf(device.id)
  if (id === undefined) return undefined
  const assignments = itemsOf(device.ip_addresses)?.map(fieldsOf) ?? []
  return {
    id,
    name: textOf(device.hostname) ?? '',
    state: stateOf(device.state),
    type: textOf(fieldsOf(device.plan).slug),
    region: regionOf(device),
    // Nodes of a metro never had a zone: one that appears parts volumes from their pods.
    zone: places === 'facilities' ? textOf(fieldsOf(device.facility).code)?.toLowerCase() : undefined,
    addresses: assignments.flatMap((assignment) => parseAddress(assignment) ?? []),
    privateNetwork: assignments.filter(isPrivate).map(networkOf).find(Boolean),
  }
}

/** A machine that failed, or has a state that nobody has heard of, is not off: what is off may lose its work to others. */
function stateOf(state: unknown): Machine['state'] {
  if (state === 'active') return 'on'
  return state === 'inactive' ? 'off' : 'changing'
}

function regionOf({ metro, facility }: Fields): string | undefined {
  const code = textOf(fieldsOf(metro).code) ?? textOf(fieldsOf(fieldsOf(facility).metro).code)
  return code?.toLowerCase()
}

function parseAddress(assignment: Fields): MachineAddress | undefined {
  const address = canonicalIpAddress(textOf(assignment.address) ?? '')
  if (address === undefined) return undefined
  return { address, isPublic: assignment.public === true, isElastic: assignment.management === false }
}

function isPrivate({ public: isPublic, management, address }: Fields): boolean {
  return isPublic === false && management === true && isIPv4(textOf(address) ?? '')
}

/** The machine's own part is of two addresses; what it shares with the others of its metro is the block around it. */
function networkOf({ parent_block }: Fields): string | undefined {
  const block = fieldsOf(parent_block)
  return formatIpv4Network(textOf(block.network) ?? '', countOf(block.cidr) ?? -1)
}
