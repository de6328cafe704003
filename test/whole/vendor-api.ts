// Other users of the simulated cloud, without the product: operators, predecessors, the cloud itself.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Access } from '../../sandbox/dialects.ts'

/** An address as the vendor returns it after an order. */
export type Ordered = { id: string; address: string }

/** Orders an address without the product, with a vendor's request body. */
export async function orderFrom(access: Access, headers: Record<string, string>, order: object): Promise<Ordered> {
  const { id, address } = (await post(`${access.url}/projects/${access.project}/ips`, headers, order)) as Ordered
  return { id, address }
}

/** Sends an order to a vendor's API; returns the body of the answer. */
export async function post(url: string, headers: Record<string, string>, order: object): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(order),
  })
  if (answer.status === 429) {
    // The product calls the cloud at the same time, and uses up the rate limit.
    await sleep(500)
    return post(url, headers, order)
  }
  if (!answer.ok) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`)
  return answer.json()
}

/** Changes how the simulated cloud behaves from now on. */
export async function command(controlUrl: string, name: string, body: object): Promise<void> {
  const { ok, status } = await fetch(`${controlUrl}/${name}`, { method: 'PUT', body: JSON.stringify(body) })
  if (!ok) throw new Error(`the control API answered ${status} to ${name}`)
}
