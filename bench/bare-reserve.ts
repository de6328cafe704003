import type { Stage } from '../sandbox/stage.ts'

/** Reserves an address directly at the simulated cloud, which is the least that a new address can cost; returns it. */
export async function bareReserve({ cloud, project, token }: Stage): Promise<string> {
  const answer = await fetch(`${cloud.url}/projects/${project}/ips`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-auth-token': token },
    body: JSON.stringify({ type: 'public_ipv4', quantity: 1, metro: 'da' }),
  })
  if (answer.status !== 201) throw new Error(`bare reserve: the simulated cloud answered ${answer.status}`)
  return ((await answer.json()) as { address: string }).address
}
