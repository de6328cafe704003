// The last step of the demo: a real MetalLB announces an address to real routers, and withdraws it. `make demo` starts
// this file as a process in namespaces of its own, because the routers need a network that they alone use.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { node } from './objects.ts'
import { type Rig, setRig } from './rig/rig.ts'
import { type Stage, setStage } from './stage.ts'
import { check, printDetail, printHeading, showKubectl, waitUntil } from './terminal.ts'

/** The version of MetalLB that the demo shows. */
export const metallbVersion = '0.16.1'

const password = 'Demo5ecretDemo5ecret'
const env = {
  METAL_METRO_NAME: 'da',
  METAL_LOAD_BALANCER: 'metallb:///metallb-system?crdConfiguration=true',
  METAL_BGP_PASS: password,
}

async function announceAndWithdraw({ stage, rig }: { stage: Stage; rig: Rig }): Promise<void> {
  printHeading(
    `A real MetalLB ${metallbVersion} announces an address to two real routers (a second cluster, on Equinix Metal)`,
  )
  const machine = stage.cloud.control.devices.add({ hostname: 'worker-0' })
  await showKubectl(stage, ['create', '-f', '-'], node('worker-0'))
  await rig.node({ name: 'worker-0', address: privateAddress(machine) })
  const create = ['create', 'service', 'loadbalancer', 'web', '--tcp=80:80', '-o', 'jsonpath={.spec.loadBalancerIP}']
  const { stdout: address } = await showKubectl(stage, create)
  const routes = async () => (await rig.routers.routes()).filter(({ prefix }) => prefix === `${address}/32`)
  await waitUntil(async () => (await routes()).length === 2)
  await showKubectl(stage, ['get', 'bgppeers', '-n', 'metallb-system'])
  for (const { router, via } of await routes()) printDetail(`router ${router} forwards ${address} to ${via}`)
  check((await routes()).length === 2, 'both routers have learned the address')

  await showKubectl(stage, ['delete', 'service', 'web'])
  await waitUntil(async () => (await routes()).length === 0)
  const [released] = stage.cloud.control.calls.all('DELETE /ips/{id}')
  const lost = rig.routers.changes().filter(({ what }) => what === 'lost')
  const isFirst = lost.length > 0 && lost.every(({ atMs }) => atMs < Date.parse(released?.at ?? ''))
  check(isFirst, 'both routers forgot the address before eip-admission deleted its reservation')
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
    rig = await setRig({ controlPlane: stage.controlPlane, metallb: { version: metallbVersion }, password })
    await stage.serve({ env })
    await announceAndWithdraw({ stage, rig })
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  } finally {
    await rig?.stop()
    await stage?.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
