import type { VendorCall } from '../http/request.ts'
import { type Fields, fieldsOf, textOf } from '../http/loose-json.ts'
import { type Account, pathOf } from './account.ts'
import { refusal, requireSameId } from './errors.ts'
import { type Block, parseBlock } from './parse-block.ts'

/** A block, read live; undefined proves that it is deleted. */
export async function findBlock(account: Account, id: string, signal: AbortSignal): Promise<Block | undefined> {
  const body = await readOne(account, { name: 'reservation', list: 'blocks', id }, signal)
  if (body === undefined) return undefined
  const found = parseBlock(body)
  if (found) return found
  const { cidr } = fieldsOf(body)
  throw refusal(`${id} is no IPv4 block (${textOf(cidr) ?? 'no network'}), so no Service can have it`, 'invalid')
}

type Kind = { name: string; list: 'blocks' | 'servers'; id: string }

/**
 * An object, read live; undefined proves that it is deleted. The API answers 403 for deleted objects as for hidden ones.
 * So the complete list with the same token decides, even where it lags behind a deletion.
 */
export async function readOne(account: Account, { name, list, id }: Kind, signal: AbortSignal): Promise<unknown> {
  const call: VendorCall = { name, method: 'GET', path: [...pathOf[list], id], accept: [403, 404] }
  const { status, body } = await account.http.call(call, signal)
  if (status === 403 || status === 404) return findListed(account, { list, id }, signal)
  requireSameId({ id: fieldsOf(body).id }, id, name)
  return body
}

/** The same, from the list. */
export async function findListed(
  account: Account,
  { list, id }: Pick<Kind, 'list' | 'id'>,
  signal: AbortSignal,
): Promise<Fields | undefined> {
  return (await account[list].fresh(signal)).find((one) => one.id === id)
}
