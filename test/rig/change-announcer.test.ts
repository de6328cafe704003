// From MetalLB to Cilium and back: the objects for one are removed, and every Service has routes by the other. Both are
// real, and so are the routers. bench/routes.ts measures for how long there is no route.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { setCiliumRig } from '../../sandbox/rig/cilium.ts'
import { type Part, makeMetallb } from '../../sandbox/rig/metallb.ts'
import type { Machine } from '../../sandbox/rig/register-machine.ts'
import { bgpFacts } from '../whole/dialect-bgp.ts'
import { dialectOf } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { ipOf, simulatedNodes } from '../whole/simulated-nodes.ts'
import { shownIn } from '../whole/stored.ts'
import { openStage } from '../whole/test-stage.ts'

const { provider, password = { setting: '', value: '' } } = bgpFacts('equinix-metal')
const settingOf = (loadBalancerUrl: string) => ({
  ...dialectOf('equinix-metal').here,
  METAL_LOAD_BALANCER: loadBalancerUrl,
  [password.setting]: password.value,
})
const kinds = {
  metallb: 'ipaddresspools.metallb.io,bgppeers.metallb.io,bgpadvertisements.metallb.io',
  cilium: 'ciliumloadbalancerippools,ciliumbgpclusterconfigs,ciliumbgppeerconfigs,ciliumbgpnodeconfigoverrides',
}
const urls = { metallb: 'metallb:///metallb-system?crdConfiguration=true', cilium: 'cilium:///' }

const stage = await openStage({ controllers: ['endpoints-controller'] })
const { startNode } = simulatedNodes(stage)
const rig = await setCiliumRig({ controlPlane: stage.controlPlane, password: password.value })
const metallb = await makeMetallb(stage.controlPlane, { version: '0.16.1' })
await metallb.install()
const machines: Machine[] = []
const parts: Part[] = [metallb.controller]

/** Starts or stops MetalLB, as an installation or removal does. */
async function all(act: 'start' | 'stop'): Promise<void> {
  for (const part of parts) await part[act]()
}

async function leadsTo(name: string, address: string): Promise<void> {
  const wanted = provider.routers.flatMap((router) => machines.map((one) => `${router} ${one.address}`)).toSorted()
  await eventually(`${name} shows ${address}, and every router has every way`, async (observe) => {
    const ways = (await rig.routers.routes()).filter(({ prefix }) => prefix === `${address}/32`)
    const found = ways.map(({ router, via }) => `${router} ${via}`).toSorted()
    const [shown] = observe([shownIn(await stage.service(name)), found.join()])
    return (shown === address && found.join() === wanted.join()) || undefined
  })
}

/** Waits until none of our objects for this software are left. */
function isEmpty(software: keyof typeof kinds): Promise<true> {
  return eventually(`nothing that we wrote is left for ${software}`, async (observe) => {
    const selected = ['-l', 'app.kubernetes.io/managed-by=eip-admission']
    return observe(await stage.run('get', kinds[software], '-A', '-o', 'name', ...selected)) === '' || undefined
  })
}

test('existing Services have a way again after a change, and what was before no longer exists', async () => {
  let product = await stage.startSwept({ env: settingOf(urls.metallb) })
  for (const name of ['node-a', 'node-b']) {
    const machine = { name, address: ipOf(await startNode(name), 4, 'private') }
    await rig.node(machine)
    parts.push(await metallb.speaker(machine))
    machines.push(machine)
  }
  await all('start')
  const { spec } = await stage.create(loadBalancer('web', { spec: { selector: { app: 'web' } } }))
  const address = spec.loadBalancerIP ?? ''
  await leadsTo('web', address)

  const changes = { cilium: 'metallb', metallb: 'cilium' } as const
  for (const now of ['cilium', 'metallb'] as const) {
    const before = changes[now]
    await product.stop()
    if (now === 'metallb') await all('start')
    product = await stage.start({ env: settingOf(urls[now]) })
    await isEmpty(before)
    if (now === 'cilium') await all('stop')
    await leadsTo('web', address)
    assert.equal(
      stage.reserved().map((one) => one.address),
      [address],
    )
    const next = await stage.create(loadBalancer(`after-${now}`, { spec: { selector: { app: 'web' } } }))
    await leadsTo(`after-${now}`, next.spec.loadBalancerIP ?? '')
    await stage.run('delete', 'service', `after-${now}`)
    await stage.gone(`after-${now}`)
  }
})

test.after(async () => {
  await all('stop')
  await rig.stop()
  await stage.close()
})

test.run()
