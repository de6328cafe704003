// What is done to a cloud past the product: by a person, by a cluster before it, or by the cloud itself.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Access } from '../../sandbox/dialects.ts'

/** An address as a vendor says that it was ordered. */
export type Ordered = { id: string; address: string }

/** Orders an address past the product, with the words of a vendor. */
export async function orderFrom(access: Access, headers: Record<string, string>, order: object): Promise<Ordered> {
  const { url, project } = access
  const answer = await fetch(`${url}/projects/${project}/ips`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(order),
  })
  if (answer.status === 429) {
    // The product is at it too: whoever types this tries again.
    await sleep(500)
    return orderFrom(access, headers, order)
  }
  if (!answer.ok) throw new Error(`the cloud answered ${answer.status}: ${await answer.text()}`)
  const { id, address } = (await answer.json()) as Ordered
  return { id, address }
}

/** Tells a simulated cloud how to be from now on. */
export async function command(controlUrl: string, name: string, body: object): Promise<void> {
  const { ok, status } = await fetch(`${controlUrl}/${name}`, { method: 'PUT', body: JSON.stringify(body) })
  if (!ok) throw new Error(`the control door answered ${status} to ${name}`)
}
