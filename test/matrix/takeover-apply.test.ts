// A takeover and its undo, killed at each step, twice round: no address changes, and nothing is bought or given back.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Product } from '../../sandbox/product.ts'
import { typed } from '../whole/command-line.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { simulatedNodes } from '../whole/simulated-nodes.ts'
import { routes } from '../whole/test-stage.ts'
import { dialect, openStage } from './dialect.ts'
import {
  hasReplicas,
  metallbObjects,
  planFor,
  predecessorLeads,
  runTakeover,
  serviceFacts,
  setScene,
  settings,
  startPredecessor,
  upstream,
} from './takeover-scene.ts'

const stage = await openStage()
const addresses = await setScene(stage, ['web', 'api', 'shop'])
const predecessor = startPredecessor(stage)
await predecessorLeads(stage)
const before = { objects: await metallbObjects(stage), services: await serviceFacts(stage) }
stage.cloud.control.calls.clear()
let product: Product | undefined

const kill = (text: string) => ({ text, signal: 'SIGKILL' as const })

/** Neither bought nor given back. */
function nothingBought(): void {
  assert.equal([stage.calls(routes.reserve), stage.calls(routes.release)], [0, 0])
}

/** Starts ours beside an `apply`: it is ready only when that has installed what it needs. */
async function besideOurs(apply: () => Promise<void>): Promise<void> {
  const starting = stage.start({ env: settings })
  // Its failure is told below.
  starting.catch(() => {})
  try {
    await apply()
  } finally {
    product = await starting
  }
}

async function isTakenOver(): Promise<void> {
  for (const [name, address] of addresses) {
    assert.is(await stage.settled(name), address)
    const { finalizers = [] } = (await stage.service(name))?.metadata ?? {}
    assert.equal(finalizers.toSorted(), ['eip-admission.dev/address-cleanup', upstream])
  }
  await hasReplicas(stage, 0)
}

test('a plan with blockers changes nothing, and every blocker has its remedy', async () => {
  const blocker = { reason: 'x', where: 'Deployment a/b', what: 'it is paused', remedy: 'resume it' }
  const { code, output } = await runTakeover(stage, 'apply', {
    plan: { ...(await planFor(stage)), blockers: [blocker] },
  })
  assert.is(code, 1)
  assert.match(
    output,
    'nothing was changed: 1 thing stands in the way\n  Deployment a/b: it is paused\n    -> resume it',
  )
  await hasReplicas(stage, 1)
  assert.match(await stage.run('get', 'configmap', '-n', 'eip-admission', '-o', 'name'), /^(?!.*takeover)/s)
})

test('without a takeover there is nothing to undo', async () => {
  const { code, output } = await runTakeover(stage, 'undo')
  assert.is(code, 1)
  assert.match(output, 'has no record of a takeover')
})

for (const round of [1, 2]) {
  const killed = round === 1 ? ', killed at each step' : ''

  test(`round ${round}: apply${killed}`, async () => {
    await besideOurs(async () => {
      const plan = await planFor(stage)
      for (const step of killed ? [1, 2, 3, 4, 5, 6] : []) {
        const { output } = await runTakeover(stage, 'apply', { plan, at: kill(`[${step}/6]`) })
        assert.match(output, `[${step}/6]`)
      }
      const { code, output } = await runTakeover(stage, 'apply', { plan: await planFor(stage) })
      assert.is(code, 0, output)
      assert.match(output, '3 Services were taken over')
    })
    await isTakenOver()
    nothingBought()
  })

  test(`round ${round}: cleanup warns and names undo`, async () => {
    const { stdout } = await typed(['cleanup', `--kubeconfig=${stage.controlPlane.kubeconfig}`])
    assert.match(stdout, 'eip-admission takeover undo')
  })

  test(`round ${round}: undo asks for our process${killed}, and leaves what was found`, async () => {
    const waiting = await runTakeover(stage, 'undo', { at: { text: 'stop every', signal: 'SIGINT' } })
    assert.is(waiting.code, 1, waiting.output)
    assert.match(waiting.output, 'Stopped. What is done stays done.')
    await product?.stop()
    for (const step of killed ? [1, 2, 3, 4, 5, 6, 7] : []) {
      const { output } = await runTakeover(stage, 'undo', { at: kill(`[${step}/7]`) })
      assert.match(output, `[${step}/7]`)
    }
    const { code, output } = await runTakeover(stage, 'undo')
    assert.is(code, 0, output)
    await predecessorLeads(stage)
    await hasReplicas(stage, 1)
    assert.equal(await metallbObjects(stage), before.objects)
    assert.equal(await serviceFacts(stage), before.services)
    assert.is(await stage.run('get', 'elasticips', '-o', 'name'), '')
    nothingBought()
  })
}

test('undo in the middle of apply', async () => {
  for (const step of [2, 3, 4]) {
    await runTakeover(stage, 'apply', { plan: await planFor(stage), at: kill(`[${step}/6]`) })
    const { code, output } = await runTakeover(stage, 'undo')
    assert.is(code, 0, output)
    await predecessorLeads(stage)
    await hasReplicas(stage, 1)
    assert.equal(await metallbObjects(stage), before.objects)
    assert.equal(await serviceFacts(stage), before.services)
  }
  nothingBought()
})

test('a Service and a node that came since have the names of the predecessor after undo', async () => {
  await besideOurs(async () => {
    const { code, output } = await runTakeover(stage, 'apply', { plan: await planFor(stage) })
    assert.is(code, 0, output)
  })
  const { startNode } = simulatedNodes(stage)
  await startNode('node-c')
  const late = (await stage.create(loadBalancer('late'))).spec.loadBalancerIP ?? ''
  const address = await eventually('late has its address', async () => {
    return (await stage.service('late'))?.spec.loadBalancerIP || undefined
  })
  if (late !== '') assert.is(address, late)
  await eventually('MetalLB has pool and peers', async (observe) => {
    const names = observe(Object.keys(await metallbObjects(stage)))
    const { routers } = dialect.bgp.provider
    return (
      (names.includes('IPAddressPool default.late') &&
        routers.every((router) => names.includes(`BGPPeer node-c.${router}`))) ||
      undefined
    )
  })
  const bought = stage.calls(routes.reserve)
  const uid = await poolUid('late')
  await product?.stop()
  const { code, output } = await runTakeover(stage, 'undo')
  assert.is(code, 0, output)
  const objects = await metallbObjects(stage)
  const { routers } = dialect.bgp.provider
  const peers = routers.map((_, n) => `BGPPeer node-c-${n}`)
  assert.equal(
    Object.keys(objects).toSorted(),
    [...Object.keys(before.objects), 'IPAddressPool default.late', ...peers].toSorted(),
  )
  // MetalLB never saw its address without a pool.
  assert.is(await poolUid('late'), uid)
  const pool = objects['IPAddressPool default.late'] as { labels: object; spec: object }
  assert.equal(pool.labels, { 'cloud-provider': 'equinix-metal', 'service-late': 'namespace-default' })
  const peer = (name: string) => (objects[name] as { labels: object; spec: Record<string, unknown> }).spec
  for (const name of Object.keys(objects).filter((one) => one.startsWith('BGPPeer'))) {
    assert.is(peer(name)['holdTime'], '0s', name)
    assert.is(peer(name)['passwordSecret'], undefined, name)
    assert.is(peer(name)['password'], peer('BGPPeer node-a-0')['password'], name)
    assert.match(JSON.stringify(peer(name)['nodeSelectors']), '"late"', name)
  }
  const { ipAddressPools } = (objects['BGPAdvertisement equinix-metal-bgp-adv'] as { spec: Record<string, unknown> })
    .spec
  assert.equal(
    ipAddressPools,
    [...addresses.keys(), 'late'].map((name) => `default.${name}`),
  )
  assert.equal((await serviceFacts(stage))['default/late'], { address, finalizers: [upstream], ours: [] })
  assert.equal([stage.calls(routes.reserve), stage.calls(routes.release)], [bought, 0])
})

async function poolUid(name: string): Promise<string> {
  return stage.run('get', 'ipaddresspool', '-n', 'metallb-system', `default.${name}`, '-o', 'jsonpath={.metadata.uid}')
}

test.after(async () => {
  await predecessor.stop()
  await stage.close()
})

test.run()
