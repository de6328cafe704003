// A real control plane with MetalLB and routers around it, and nothing of the product: what we hold for true of those.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Service } from '../../kube/objects.ts'
import { type ControlPlane, startControlPlane } from '../../sandbox/control-plane/start.ts'
import { type Administrator, makeAdministrator } from '../../sandbox/rig/administrator.ts'
import type { MetallbOptions } from '../../sandbox/rig/metallb.ts'
import { type Rig, setRig } from '../../sandbox/rig/rig.ts'

export type Context = Rig &
  Administrator & {
    controlPlane: ControlPlane
    service: (name: string) => Promise<Service | undefined>
  }

export const password = 'Rig5ecretRig5ecret'

/** Old MetalLBs read Endpoints. */
const controllers = ['endpoints-controller']

/** Sets a rig, lets a test have it, and takes all of it down again; the logs stay when the test failed. */
export async function onGround(metallb: MetallbOptions, test: (ground: Context) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-rig-'))
  const controlPlane = await startControlPlane({ dir, controllers })
  const rig = await setRig({ controlPlane, metallb, password })
  const administrator = makeAdministrator(controlPlane)
  const service = async (name: string) => {
    const text = await administrator.run(['get', 'service', name, '--ignore-not-found', '-o', 'json'])
    return text === '' ? undefined : (JSON.parse(text) as Service)
  }
  try {
    await test({ ...rig, ...administrator, controlPlane, service })
  } catch (error) {
    console.error(`the logs of a failed test of the rig: ${join(dir, 'logs')}`)
    throw error
  } finally {
    await rig.stop()
    await controlPlane.stop()
  }
  rmSync(dir, { recursive: true })
}
