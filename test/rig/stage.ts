// A real control plane with MetalLB and routers, but without the product, for tests of behaviour that we rely on.
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

/** Old versions of MetalLB read Endpoints. */
const controllers = ['endpoints-controller']

/** Runs a test on a rig with MetalLB and stops everything afterwards; the logs stay when the test fails. */
export async function withRig(metallb: MetallbOptions, test: (context: Context) => Promise<void>): Promise<void> {
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
