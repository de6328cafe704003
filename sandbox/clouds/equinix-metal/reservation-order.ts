import { unprocessable } from './errors.ts'
import type { Facility, Metro } from './locations.ts'
import { findLocation } from './find-location.ts'
import { objectOf } from '../request-body.ts'
import { customdataOf, listOfText } from './request-body.ts'
import type { State } from './state.ts'

/** A valid request for a reservation. */
export type ReservationOrder = {
  type: 'public_ipv4' | 'global_ipv4'
  quantity: number
  metro?: Metro
  facility?: Facility
  details: string | null
  tags: string[]
  customdata: object
  failFast: boolean
}

const maxQuantity = { public_ipv4: 256, global_ipv4: 4 }

/** Reads the body of `POST /projects/{id}/ips`; throws 422 with all of its problems. */
export function readReservationOrder(state: State, sent: unknown): ReservationOrder {
  const body = objectOf(sent)
  const { type, quantity } = body
  const problems = [...findSizeProblems(type, quantity), ...findLocationProblems(type, body)]
  if (problems.length > 0 || (type !== 'public_ipv4' && type !== 'global_ipv4')) throw unprocessable(...problems)
  return {
    type,
    quantity: Number(quantity),
    ...(type === 'public_ipv4' && findLocation(state, body)),
    details: typeof body['details'] === 'string' ? body['details'] : null,
    tags: listOfText(body['tags'], 'tags'),
    customdata: customdataOf(body['customdata']),
    failFast: body['fail_on_approval_required'] === true,
  }
}

function findSizeProblems(type: unknown, quantity: unknown): string[] {
  if (type === undefined) return ["Type can't be blank"]
  if (type !== 'public_ipv4' && type !== 'global_ipv4') return [`Type ${JSON.stringify(type)} cannot be requested`]
  if (quantity === undefined) return ["Quantity can't be blank"]
  const size = Number(quantity)
  const isPowerOfTwo = Number.isInteger(size) && size > 0 && Number.isInteger(Math.log2(size))
  if (!isPowerOfTwo) return ['Quantity must be a power of two']
  return size > maxQuantity[type] ? [`Quantity must be at most ${maxQuantity[type]} for ${type}`] : []
}

function findLocationProblems(type: unknown, { metro, facility }: Record<string, unknown>): string[] {
  if (type === 'global_ipv4' && (metro || facility)) return ['Metro and facility must be blank for global_ipv4']
  if (type !== 'public_ipv4') return []
  if (metro && facility) return ['Metro and facility are mutually exclusive']
  return metro || facility ? [] : ["Metro can't be blank"]
}
