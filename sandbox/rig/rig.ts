import type { ControlPlane } from '../control-plane/start.ts'
import { makeAdministrator } from './administrator.ts'
import { type Metallb, type MetallbOptions, type Part, makeMetallb } from './metallb.ts'
import { createNetwork } from './network.ts'
import { type Provider, providers } from './providers.ts'
import { type Machine, registerMachine } from './register-machine.ts'
import { type Routers, startRouters } from './routers.ts'

export type RigOptions = {
  controlPlane: ControlPlane
  metallb: MetallbOptions
  /** Equinix Metal's routers when absent. */
  provider?: Provider
  /** The password that the routers expect in every BGP session; none when absent. */
  password?: string | undefined
}

/** A real MetalLB and real routers for a control plane. */
export type Rig = {
  metallb: Metallb
  routers: Routers
  /**
   * Adds a machine to the network and to the cluster, and starts a MetalLB speaker on it. Makes a pod ready there for
   * every Service whose selector is `app: web`. The machine's Node may exist already.
   */
  node: (machine: Machine) => Promise<Machine & { speaker: Part }>
  stop(): Promise<void>
}

/** Installs and starts MetalLB, and starts routers that accept sessions from machines. */
export async function setRig(options: RigOptions): Promise<Rig> {
  const { controlPlane, provider = providers['equinix-metal'], password } = options
  const network = await createNetwork(provider)
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
      await registerMachine(administrator, machine)
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
