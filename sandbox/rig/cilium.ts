import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from '../child.ts'
import { ciliumPrograms } from '../cilium/build.ts'
import type { ControlPlane } from '../control-plane/start.ts'
import { makeAdministrator } from './administrator.ts'
import type { Part } from './metallb.ts'
import { createNetwork } from './network.ts'
import { providers } from './providers.ts'
import { type Machine, registerMachine } from './register-machine.ts'
import { type Routers, startRouters } from './routers.ts'

export type CiliumOptions = {
  controlPlane: ControlPlane
  /** The password that the routers expect in every BGP session. */
  password: string
}

/** Cilium's own LB IPAM and BGP without a datapath, and real routers, for a control plane. */
export type CiliumRig = {
  routers: Routers
  operator: Part
  /** Adds a machine as the other rig does, and starts Cilium's agent for it. */
  node: (machine: Machine) => Promise<Machine & { agent: Part }>
  stop(): Promise<void>
}

/** Installs Cilium's CRDs, and starts its operator and the routers of Equinix Metal. */
export async function setCiliumRig({ controlPlane, password }: CiliumOptions): Promise<CiliumRig> {
  const { cilium, crds } = await ciliumPrograms()
  const { dir, kubeconfig } = controlPlane
  const provider = providers['equinix-metal']
  const network = await createNetwork(provider)
  const routers = await startRouters({ dir, provider, password })
  const administrator = makeAdministrator(controlPlane)
  const definitions = globSync('*.yaml', { cwd: crds }).map((file) => readFileSync(join(crds, file), 'utf8'))
  await administrator.apply(definitions.join('\n---\n'))
  await administrator.run(['wait', '--for=condition=Established', 'crd', '--all'])
  const part = (name: string, ...args: string[]) =>
    makePart([cilium, `--kubeconfig=${kubeconfig}`, ...args], join(dir, 'logs', `cilium-${name}.log`))
  const operator = part('operator')
  await operator.start()
  const parts = [operator]
  return {
    routers,
    operator,
    async node(machine) {
      await network.addMachine(machine.address)
      await registerMachine(administrator, machine)
      await administrator.apply(ciliumNode(machine))
      const agent = part(`agent-${machine.name}`, `--node=${machine.name}`)
      parts.push(agent)
      await agent.start()
      return { ...machine, agent }
    },
    async stop() {
      await Promise.all(parts.map((one) => one.stop()))
      await routers.stop()
      await network.remove()
    },
  }
}

/** The object that a complete agent writes about its node: a copy of the Node's labels and addresses. */
function ciliumNode({ name, address }: Machine): object {
  return {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNode',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    spec: { addresses: [{ type: 'InternalIP', ip: address }] },
  }
}

function makePart(command: string[], logFile: string): Part {
  let child: Child | undefined
  return {
    start() {
      child = startChild(command, { logFile })
      return Promise.resolve()
    },
    async stop(signal = 'SIGTERM') {
      await child?.stop(signal, 3000)
    },
  }
}
