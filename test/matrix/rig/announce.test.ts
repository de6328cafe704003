// The product, the real MetalLB and real routers: the effects of a Service's address on the network, and their order.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasBgp } from '../../../sandbox/dialect-names.ts'
import { metallbByHand, metallbVersions } from '../../../sandbox/metallb/build.ts'
import { isSince } from '../../../sandbox/rig/metallb-args.ts'
import { type Rig, setRig } from '../../../sandbox/rig/rig.ts'
import { type MetallbSetup, bgpFacts } from '../../whole/dialect-bgp.ts'
import { eventually } from '../../whole/eventually.ts'
import { ipOf, simulatedNodes } from '../../whole/simulated-nodes.ts'
import { loadBalancer } from '../../whole/manifests.ts'
import type { TestStage } from '../../whole/test-stage.ts'
import { dialect, openStage, routes } from '../dialect.ts'
import { dialectsByFile } from '../dialects-by-file.ts'

const { nodeSelector, password, provider, source } = dialect.bgp

const byHand = metallbByHand()
const chosen = byHand && { version: byHand, setting: 'metallb:///metallb-system?crdConfiguration=true' }
const setups: MetallbSetup[] = chosen ? [chosen] : dialect.bgp.metallb

type Scene = TestStage & { rig: Rig; machines: string[]; restart: (env: Record<string, string>) => Promise<void> }

/** Runs the product with nodes and a version of MetalLB, with its webhooks if it has any. */
async function onScene(
  { version, setting, mode = 'native' }: MetallbSetup,
  play: (scene: Scene) => Promise<void>,
): Promise<void> {
  const stage = await openStage({ controllers: ['endpoints-controller'] })
  const { startNode } = simulatedNodes(stage)
  const metallb = { version, mode, webhooks: isSince(version, '0.13') }
  const rig = await setRig({ controlPlane: stage.controlPlane, metallb, provider, password: password?.value })
  const settings = {
    ...dialect.here,
    [dialect.loadBalancer]: setting,
    ...(password && { [password.setting]: password.value }),
  }
  const machines: string[] = []
  try {
    let product = await stage.startSwept({ env: settings })
    // With FRR the product writes no source address for a node, and all nodes share the rig's single network.
    for (const name of mode === 'frr' ? ['node-a'] : ['node-a', 'node-b']) {
      const address = ipOf(await startNode(name), 4, source)
      await rig.node({ name, address })
      machines.push(address)
    }
    const restart = async (env: Record<string, string>) => {
      await product.stop()
      product = await stage.start({ env: { ...settings, ...env } })
    }
    await play({ ...stage, rig, machines, restart })
  } finally {
    await rig.stop()
    await stage.close()
  }
}

async function create(scene: Scene, name: string): Promise<string> {
  const { spec } = await scene.create(loadBalancer(name, { spec: { selector: { app: 'web' } } }))
  return spec.loadBalancerIP ?? ''
}

/** Waits until every router sends packets for an address to exactly these machines. */
function leadsTo({ rig }: Scene, address: string, machines: string[]): Promise<true> {
  return eventually(`${address} leads to ${machines.join(' and ')}`, async (observe) => {
    const ways = observe(await rig.routers.routes()).filter(({ prefix }) => prefix === `${address}/32`)
    const found = ways.map(({ router, via }) => `${router} ${via}`).toSorted()
    return found.join() === eachRouter(machines).join() || undefined
  })
}

function eachRouter(machines: string[]): string[] {
  return provider.routers.flatMap((router) => machines.map((machine) => `${router} ${machine}`)).toSorted()
}

/** When the last router lost its last route to an address. */
async function lostAtMs({ rig, machines }: Scene, address: string): Promise<number> {
  const lost = await eventually('no way is left', (observe) => {
    const gone = rig.routers.changes().filter(({ what, prefix }) => what === 'lost' && prefix === `${address}/32`)
    return observe(gone).length === machines.length * provider.routers.length ? gone : undefined
  })
  return Math.max(...lost.map(({ atMs }) => atMs))
}

/** Checks that no route to a deleted Service is left when its address is released. */
async function leavesInOrder(scene: Scene): Promise<void> {
  const { cloud, machines } = scene
  const address = await create(scene, 'leaving')
  await leadsTo(scene, address, machines)
  cloud.control.calls.clear()
  // A read from the cloud precedes the release, which gives speakers and routers time, although nothing waits for them.
  cloud.control.latency.set({ on: 'GET', ms: 2_000 })
  await scene.run('delete', 'service', 'leaving')
  await scene.gone('leaving')
  cloud.control.latency.clear()
  const [released] = cloud.control.calls.all(routes.release)
  const lost = await lostAtMs(scene, address)
  assert.ok(lost < Date.parse(released?.at ?? ''), `lost at ${lost}, released at ${released?.at}`)
}

test('every version of MetalLB is tested in some dialect', () => {
  const row = dialectsByFile['rig/announce']
  assert.ok(row)
  const met = row.complete.filter(hasBgp).flatMap((name) => bgpFacts(name).metallb)
  assert.equal([...new Set(met.map(({ version }) => version))].toSorted(), [...metallbVersions].toSorted())
})

for (const setup of setups) {
  const { version, mode = 'native' } = setup
  test(`MetalLB ${version}, ${mode}: routers have a route to a created Service within seconds, over every selected node`, () =>
    onScene(setup, async (scene) => {
      const { machines, rig } = scene
      const address = await create(scene, 'web')
      await leadsTo(scene, address, machines)
      await scene.settled('web')
      await leavesInOrder(scene)

      const selected = nodeSelector === undefined ? machines : machines.slice(0, 1)
      if (nodeSelector !== undefined) await scene.restart({ [nodeSelector]: 'kubernetes.io/hostname=node-a' })
      await leadsTo(scene, address, selected)
      const speaking = (await rig.routers.sessions()).map(({ router, machine }) => `${router} ${machine}`)
      assert.equal(speaking.toSorted(), eachRouter(selected))
    }))
}

test.run()
