import type { ControlPlane } from '../control-plane/start.ts'
import { type Administrator, makeAdministrator } from './administrator.ts'
import { type Machine, type Metallb, type MetallbOptions, type Part, makeMetallb } from './metallb.ts'
import { layNetwork } from './network.ts'
import { type Provider, providers } from './providers.ts'
import { type Routers, startRouters } from './routers.ts'

export type RigOptions = {
  controlPlane: ControlPlane
  metallb: MetallbOptions
  /** Equinix Metal when absent. */
  provider?: Provider
  /** The password of every BGP session, as the routers know it; without it they ask for none. */
  password?: string | undefined
}

/** MetalLB and the provider's routers, real ones, around a control plane. */
export type Rig = {
  metallb: Metallb
  routers: Routers
  /**
   * A machine is in the network and in the cluster, MetalLB speaks there, and a pod is ready for every Service whose
   * selector is `app: web`. Its Node may be there already.
   */
  node: (machine: Machine) => Promise<Machine & { speaker: Part }>
  stop(): Promise<void>
}

/** Has MetalLB installed and running, and the routers waiting for machines. */
export async function setRig(options: RigOptions): Promise<Rig> {
  const { controlPlane, provider = providers['equinix-metal'], password } = options
  const network = await layNetwork(provider)
  const routers = await startRouters({ dir: controlPlane.dir, provider, password })
  const metallb = await makeMetallb(controlPlane, options.metallb)
  const administrator = makeAdministrator(controlPlane)
  await metallb.install()
  await metallb.controller.start()
  const parts = [metallb.controller]
  return {
    metallb,
    routers,
    async node(machine) {
      await network.addMachine(machine.address)
      await register(administrator, machine)
      const speaker = await metallb.speaker(machine)
      parts.push(speaker)
      await speaker.start()
      return { ...machine, speaker }
    },
    async stop() {
      await Promise.all(parts.map((makePart) => makePart.stop()))
      await routers.stop()
      await network.remove()
    },
  }
}

/** What the kubelet does when it comes up, and when a pod of ours is ready. */
async function register(administrator: Administrator, { name, address }: Machine) {
  await administrator.apply({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    spec: {},
  })
  const pod = `web-${name}`
  await administrator.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: pod, namespace: 'default', labels: { app: 'web' } },
    spec: {
      nodeName: name,
      automountServiceAccountToken: false,
      containers: [{ name: 'web', image: 'none.invalid/none' }],
    },
  })
  const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'True' }))
  const status = { phase: 'Running', podIP: address, podIPs: [{ ip: address }], conditions }
  await administrator.run([
    'patch',
    'pod',
    pod,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ])
}
