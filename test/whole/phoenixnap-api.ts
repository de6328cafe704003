// A person who uses phoenixNAP without the product.
import { tagsOf } from '../../clouds/phoenixnap/tags.ts'
import type { Access } from '../../sandbox/dialects.ts'
import type { Ordered } from './vendor-api.ts'

const tokenPath = '/auth/realms/BMC/protocol/openid-connect/token'

/** Calls an API as the client of the access, with its own token. */
export async function callPhoenixnap(
  { url, project, token }: Access,
  method: string,
  { path, body }: { path: string; body?: unknown },
): Promise<unknown> {
  const granted = await fetch(`${url}${tokenPath}`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${project}:${token}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token: bearer } = (await granted.json()) as { access_token: string }
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok && answer.status !== 409) throw new Error(`the provider answered ${answer.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** Orders a block of two addresses, and creates the names of its tags, with our marks as we write them. */
export async function orderBlock(access: Access, pairs: [name: string, value: string][]): Promise<Ordered> {
  const ours = ['usage', 'cluster', 'service', 'sign']
  const marks = Object.fromEntries(pairs.filter(([name]) => ours.includes(name)))
  const others = pairs.filter(([name]) => !ours.includes(name))
  const tags = [...others.map(([name, value]) => ({ name, ...(value && { value }) })), ...tagsOf(marks)]
  for (const { name } of tags)
    await callPhoenixnap(access, 'POST', { path: '/tag-manager/v1/tags', body: { name, isBillingTag: false } })
  const body = { location: 'PHX', cidrBlockSize: '/31', tags }
  const { id, cidr } = (await callPhoenixnap(access, 'POST', { path: '/ips/v1/ip-blocks', body })) as Record<
    string,
    string
  >
  return { id: String(id), address: higherOf(String(cidr)) }
}

/** The higher address of a block of two: the one that Services get. */
export function higherOf(cidr: string): string {
  const [first = ''] = cidr.split('/')
  return first.replace(/\d+$/, (last) => String(Number(last) + 1))
}
