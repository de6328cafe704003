// The last act of the demo, in namespaces of its own: a real MetalLB and real routers learn an address, and forget it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { node } from './objects.ts'
import { type Rig, setRig } from './rig/rig.ts'
import { type Stage, setStage } from './stage.ts'
import { waitUntil, check, printHeading, showKubectl } from './terminal.ts'

/** The version of MetalLB that is shown. */
export const networkVersion = '0.16.1'

const password = 'Demo5ecretDemo5ecret'
const env = {
  METAL_METRO_NAME: 'da',
  METAL_LOAD_BALANCER: 'metallb:///metallb-system?crdConfiguration=true',
  METAL_BGP_PASS: password,
}

type Network = { stage: Stage; rig: Rig }

async function learnsAndForgets({ stage, rig }: Network): Promise<void> {
  printHeading(`And the network? A real MetalLB ${networkVersion} and two real routers, in namespaces of their own`)
  const machine = stage.cloud.door.devices.add({ hostname: 'worker-0' })
  await showKubectl(stage, ['create', '-f', '-'], node('worker-0'))
  await rig.node({ name: 'worker-0', address: privateAddress(machine) })
  const create = ['create', 'service', 'loadbalancer', 'web', '--tcp=80:80', '-o', 'jsonpath={.spec.loadBalancerIP}']
  const { stdout: address } = await showKubectl(stage, create)
  const ways = async () => (await rig.routers.routes()).filter(({ prefix }) => prefix === `${address}/32`)
  await waitUntil(async () => (await ways()).length === 2)
  await showKubectl(stage, ['get', 'bgppeers', '-n', 'metallb-system'])
  for (const { router, via } of await ways()) console.log(`    router ${router} sends ${address} to ${via}`)
  check((await ways()).length === 2, 'both routers know the way')

  await showKubectl(stage, ['delete', 'service', 'web'])
  await waitUntil(async () => (await ways()).length === 0)
  const [released] = stage.cloud.door.calls.all('DELETE /ips/{id}')
  const lost = rig.routers.changes().filter(({ what }) => what === 'lost')
  const isFirst = lost.length > 0 && lost.every(({ atMs }) => atMs < Date.parse(released?.at ?? ''))
  check(isFirst, 'they forgot it before the address went back to the cloud')
}

function privateAddress(machine: object): string {
  const { ip_addresses } = machine as { ip_addresses: { address: string; public: boolean }[] }
  return ip_addresses.find((one) => !one.public)?.address ?? ''
}

if (import.meta.main) {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-'))
  let stage: Stage | undefined
  let rig: Rig | undefined
  try {
    stage = await setStage({ dir, controllers: ['endpoints-controller'] })
    rig = await setRig({ controlPlane: stage.controlPlane, metallb: { version: networkVersion }, password })
    await stage.serve({ env })
    await learnsAndForgets({ stage, rig })
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  } finally {
    await rig?.stop()
    await stage?.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
