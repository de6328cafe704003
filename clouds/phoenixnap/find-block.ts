import type { VendorCall } from '../http/request.ts'
import { fieldsOf, textOf } from '../http/loose-json.ts'
import { type Account, pathOf } from './account.ts'
import { errorText, refusal, unreadableError } from './errors.ts'
import { type Block, parseBlock } from './parse-block.ts'

/** A block, read live; undefined is a proof that it is gone. */
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
 * An object, read live; undefined is a proof that it is gone. The API answers 403 for what is gone as for what it hides, so
 * only a complete list with the same token proves it.
 */
export async function readOne(account: Account, { name, list, id }: Kind, signal: AbortSignal): Promise<unknown> {
  const call: VendorCall = { name, method: 'GET', path: [...pathOf[list], id], accept: [403, 404] }
  const { status, body } = await account.http.call(call, signal)
  if (status !== 403 && status !== 404) {
    if (textOf(fieldsOf(body).id) !== id) throw unreadableError(name, `another object than ${id}`)
    return body
  }
  if (!(await isListed(account, { list, id }, signal))) return undefined
  const text = textOf(errorText(body)) ?? 'no reason'
  if (status === 404) throw unreadableError(name, `404 (${text}) although the list has ${id}`)
  throw refusal(`403 (${text}) for ${id}, which the list has: check that the API key may read it`, 'auth')
}

/** Whether the complete list has an object. */
export async function isListed(
  account: Account,
  { list, id }: Pick<Kind, 'list' | 'id'>,
  signal: AbortSignal,
): Promise<boolean> {
  return (await account[list].fresh(signal)).some((one) => one.id === id)
}
