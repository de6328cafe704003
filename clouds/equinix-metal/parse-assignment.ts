import { type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { publicTypes } from './parse-reservation.ts'

/** The assignment of an address to a machine; it has an id of its own. */
export type Assignment = { id: string; machine: string }

/**
 * The assignments of the address of a reservation, read with `include=assignments`; undefined if the response does not contain
 * all of them. Assignments of other addresses of the block are not ours.
 */
export function parseAssignments(reservation: Fields): Assignment[] | undefined {
  const items = itemsOf(reservation.assignments)?.map(fieldsOf)
  const assignments = items?.filter((item) => isOfAddress(item, reservation)).map((item) => parse(item, reservation))
  return assignments?.every((one) => one !== undefined) ? assignments : undefined
}

function isOfAddress({ address, cidr }: Fields, reservation: Fields): boolean {
  const isWhole = address === undefined || address === reservation.address
  return isWhole && (cidr === undefined || cidr === 32)
}

/** We delete by this id, and to delete a reservation loses the address: whatever may be one is no assignment. */
function parse({ id, type, assigned_to }: Fields, reservation: Fields): Assignment | undefined {
  const machine = machineOf(fieldsOf(assigned_to))
  const own = textOf(id)
  const isBlock = own === reservation.id || publicTypes.includes(textOf(type) ?? '')
  return own === undefined || machine === undefined || isBlock ? undefined : { id: own, machine }
}

function machineOf({ id, href }: Fields): string | undefined {
  return textOf(id) ?? /\/devices\/([^/]+)$/.exec(textOf(href) ?? '')?.[1]
}
