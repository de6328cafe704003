import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import type { Credentials } from '../../kube/credentials.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'

/** Whether an interface of this machine has the address: a probe of it would not leave the machine. */
export function isOnThisMachine(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  return own.some((one) => canonicalIpAddress(one.address) === address)
}

/** Why our way to the API server is one that the guardian must not use; undefined if it is none. */
export async function ownPathProblem(credentials: Credentials, address: string): Promise<string | undefined> {
  const { url } = await credentials.current()
  const { hostname } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const addresses = await lookup(host, { all: true }).catch(() => [])
  if (!addresses.some((one) => canonicalIpAddress(one.address) === address)) return undefined
  return (
    `this process talks to the API server by the control-plane address itself (${url}), so it would be cut off by the ` +
    'outage that it must end; set --api-server (EIP_API_SERVER) to the API server of its own machine, such as https://$(HOST_IP):6443'
  )
}
