import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { isNamespaced } from './namespace.ts'
import type { Provider } from './providers.ts'

/** The network namespace of the routers, at the other end of the wire. */
export const routersNetwork = 'routers'

const wire = 'machines'

function setupCommands({ routers, machines: { network, gateway } }: Provider): string[] {
  return [
    `netns add ${routersNetwork}`,
    `link add ${wire} type veth peer name routers netns ${routersNetwork}`,
    `link set ${wire} up`,
    `route add ${network} dev ${wire}`,
    ...routers.map((address) => `route add ${address} via ${gateway}`),
    `-n ${routersNetwork} link set lo up`,
    `-n ${routersNetwork} link set routers up`,
    `-n ${routersNetwork} addr add ${gateway}/${network.split('/')[1]} dev routers`,
    ...routers.map((address) => `-n ${routersNetwork} addr add ${address}/32 dev lo`),
  ]
}

/** The machines are all at our end of a wire, an address each; the routers are at the other end. */
export type Network = {
  addMachine(address: string): Promise<void>
  remove(): Promise<void>
}

/** Lays the wire; there is one such network at a time. */
export async function layNetwork(provider: Provider): Promise<Network> {
  if (!isNamespaced()) throw new Error('the rig wants a network of its own: run the tests by `npm test -- rig/`')
  for (const command of setupCommands(provider)) await ip(command)
  return {
    addMachine: (address) => ip(`addr add ${address}/32 dev ${wire}`),
    async remove() {
      await ip(`link del ${wire}`)
      await ip(`netns del ${routersNetwork}`)
    },
  }
}

async function ip(command: string): Promise<void> {
  await promisify(execFile)('ip', command.split(' '))
}
