// The product, the real MetalLB and real routers: what a Service's address means to the network, and in which order.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type MetallbVersion, metallbVersions } from '../../sandbox/metallb/build.ts'
import { isSince } from '../../sandbox/rig/metallb-args.ts'
import { routerAddresses } from '../../sandbox/rig/network.ts'
import { type Rig, setRig } from '../../sandbox/rig/rig.ts'
import { eventually } from '../whole/eventually.ts'
import { ipOf, machineRoom } from '../whole/kubelet.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { type World, openWorld, routes } from '../whole/world.ts'

const password = 'Rig5ecretRig5ecret'
const onlyNodeA = { METAL_BGP_NODE_SELECTOR: 'kubernetes.io/hostname=node-a' }

type Scene = World & { rig: Rig; machines: string[]; restart: (env: Record<string, string>) => Promise<void> }

/** The product with two nodes and MetalLB of a version, its webhooks on if it has any. */
async function onScene(version: MetallbVersion, play: (scene: Scene) => Promise<void>): Promise<void> {
  const hasObjects = isSince(version, '0.13')
  const world = await openWorld({ controllers: ['endpoints-controller'] })
  const { comesUp } = machineRoom(world)
  const metallb = { version, webhooks: hasObjects }
  const rig = await setRig({ controlPlane: world.controlPlane, metallb, password })
  const settings = {
    METAL_METRO_NAME: 'da',
    METAL_LOAD_BALANCER: `metallb:///metallb-system${hasObjects ? '' : '/config'}?crdConfiguration=${hasObjects}`,
    METAL_BGP_PASS: password,
  }
  const machines: string[] = []
  try {
    let product = await world.startSwept({ env: settings })
    for (const name of ['node-a', 'node-b']) {
      const address = ipOf(await comesUp(name), 4, 'private')
      await rig.node({ name, address })
      machines.push(address)
    }
    const restart = async (env: Record<string, string>) => {
      await product.stop()
      product = await world.start({ env: { ...settings, ...env } })
    }
    await play({ ...world, rig, machines, restart })
  } finally {
    await rig.stop()
    await world.close()
  }
}

async function create(scene: Scene, name: string): Promise<string> {
  const { spec } = await scene.create(loadBalancer(name, { spec: { selector: { app: 'web' } } }))
  return spec.loadBalancerIP ?? ''
}

/** Every router sends packets for an address to these machines, and to no others. */
function leadsTo({ rig }: Scene, address: string, machines: string[]): Promise<true> {
  return eventually(`${address} leads to ${machines.join(' and ')}`, async (see) => {
    const ways = see(await rig.routers.routes()).filter(({ prefix }) => prefix === `${address}/32`)
    const found = ways.map(({ router, via }) => `${router} ${via}`).toSorted()
    return found.join() === eachRouter(machines).join() || undefined
  })
}

function eachRouter(machines: string[]): string[] {
  return routerAddresses.flatMap((router) => machines.map((machine) => `${router} ${machine}`)).toSorted()
}

/** When the last router lost its last way to an address. */
function lostAtMs({ rig, machines }: Scene, address: string): number {
  const lost = rig.routers.changes().filter(({ what, prefix }) => what === 'lost' && prefix === `${address}/32`)
  assert.is(lost.length, machines.length * routerAddresses.length)
  return Math.max(...lost.map(({ atMs }) => atMs))
}

for (const version of metallbVersions) {
  test(`MetalLB ${version}: a created Service is reached within seconds, over every node that is selected`, () =>
    onScene(version, async (scene) => {
      const { cloud, machines, rig } = scene
      const startedMs = Date.now()
      const address = await create(scene, 'web')
      await leadsTo(scene, address, machines)
      assert.ok(Date.now() - startedMs < 10_000, `it took ${Date.now() - startedMs} ms`)
      await scene.settled('web')

      // What is deleted has no way any more when its address goes back to the cloud.
      const leaving = await create(scene, 'leaving')
      await leadsTo(scene, leaving, machines)
      cloud.door.calls.clear()
      await scene.must('delete', 'service', 'leaving')
      await scene.gone('leaving')
      const [released] = cloud.door.calls.all(routes.release)
      const lost = lostAtMs(scene, leaving)
      assert.ok(lost < Date.parse(released?.at ?? ''), `lost at ${lost}, released at ${released?.at}`)

      const [selected = ''] = machines
      await scene.restart(onlyNodeA)
      await leadsTo(scene, address, [selected])
      const speaking = (await rig.routers.sessions()).map(({ router, machine }) => `${router} ${machine}`)
      assert.equal(speaking.toSorted(), eachRouter([selected]))
    }))
}

test.run()
