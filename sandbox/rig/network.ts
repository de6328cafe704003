import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { isNamespaced } from './namespace.ts'
import type { Provider } from './providers.ts'

/** The network namespace of the routers. */
export const routersNetwork = 'routers'

const cable = 'machines'

function setupCommands({ routers, machines: { network, gateway } }: Provider): string[] {
  return [
    `netns add ${routersNetwork}`,
    `link add ${cable} type veth peer name routers netns ${routersNetwork}`,
    `link set ${cable} up`,
    `route add ${network} dev ${cable}`,
    ...routers.map((address) => `route add ${address} via ${gateway}`),
    `-n ${routersNetwork} link set lo up`,
    `-n ${routersNetwork} link set routers up`,
    `-n ${routersNetwork} addr add ${gateway}/${network.split('/')[1]} dev routers`,
    ...routers.map((address) => `-n ${routersNetwork} addr add ${address}/32 dev lo`),
  ]
}

/** A virtual cable: the addresses of all machines are at this end, the routers at the other end. */
export type Network = {
  addMachine(address: string): Promise<void>
  remove(): Promise<void>
}

/** Creates the virtual cable and the network of the routers; there can be only one at a time. */
export async function createNetwork(provider: Provider): Promise<Network> {
  if (!isNamespaced())
    throw new Error('the rig needs a separate network namespace: run the tests with `npm test -- rig/`')
  for (const command of setupCommands(provider)) await ip(command)
  return {
    addMachine: (address) => ip(`addr add ${address}/32 dev ${cable}`),
    async remove() {
      await ip(`link del ${cable}`)
      await ip(`netns del ${routersNetwork}`)
    },
  }
}

/** Gives this namespace an address of its own, such as that of a pod. */
export async function addAddress(address: string): Promise<void> {
  await ip(`addr replace ${address}/32 dev lo`)
}

async function ip(command: string): Promise<void> {
  await promisify(execFile)('ip', command.split(' '))
}
