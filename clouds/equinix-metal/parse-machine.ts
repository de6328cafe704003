import { isIPv4 } from 'node:net'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { formatIpv4Network } from '../../lib/ip-range.ts'
import { countOf, type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import type { Machine, MachineAddress } from '../ports/machines.ts'
import type { ProjectOptions } from './project.ts'

/** The machine in a response; undefined if it has no id. */
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
    region: regionOf(device, places),
    // Nodes never had a zone: a new one would separate volumes from their Pods.
    zone: undefined,
    addresses: assignments.flatMap((assignment) => parseAddress(assignment) ?? []),
    privateNetwork: assignments.filter(isPrivate).map(networkOf).find(Boolean),
  }
}

/** A failed machine, or one in an unknown state, does not count as off: Pods of a machine that is off may be moved. */
function stateOf(state: unknown): Machine['state'] {
  if (state === 'active') return 'on'
  return state === 'inactive' ? 'off' : 'changing'
}

/** As the predecessors wrote it: the metro, and the facility where these were the places. */
function regionOf({ metro, facility }: Fields, places: ProjectOptions['places']): string | undefined {
  const { code, metro: around } = fieldsOf(facility)
  const own = places === 'facilities' ? textOf(code) : undefined
  return (own ?? textOf(fieldsOf(metro).code) ?? textOf(fieldsOf(around).code))?.toLowerCase()
}

function parseAddress(assignment: Fields): MachineAddress | undefined {
  const address = canonicalIpAddress(textOf(assignment.address) ?? '')
  if (address === undefined) return undefined
  return { address, isPublic: assignment.public === true, isElastic: assignment.management === false }
}

function isPrivate({ public: isPublic, management, address }: Fields): boolean {
  return isPublic === false && management === true && isIPv4(textOf(address) ?? '')
}

/** The machine's own network has two addresses; the block around it is shared by the machines of the metro. */
function networkOf({ parent_block }: Fields): string | undefined {
  const block = fieldsOf(parent_block)
  return formatIpv4Network(textOf(block.network) ?? '', countOf(block.cidr) ?? -1)
}
