// A takeover and its undo, frozen, killed and repeated: no address changes, and nothing is bought or released. In
// memory, test/commands/takeover kills them at each of their writes, and has two of them begin at each step.
import type { ChildProcess } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { leases } from '../../kube/resource.ts'
import type { Product } from '../../sandbox/product.ts'
import { typed } from '../whole/command-line.ts'
import { eventually } from '../whole/eventually.ts'
import { loadBalancer } from '../whole/manifests.ts'
import { once } from '../whole/once.ts'
import { simulatedNodes } from '../whole/simulated-nodes.ts'
import { dialect, openStage, routes } from './dialect.ts'
import {
  type Ran,
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

const standby = 'Start eip-admission on standby'
const kill = (text: string) => ({ text, signal: 'SIGKILL' as const })

/** Checks that nothing was bought or released. */
function nothingBought(): void {
  assert.equal([stage.calls(routes.reserve), stage.calls(routes.release)], [0, 0])
}

/** Starts our process during an `apply`: it is ready only when the apply has installed what it needs. */
async function besideOurs(apply: () => Promise<void>): Promise<void> {
  const starting = stage.start({ env: settings })
  // A failed start is reported below.
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
    'Nothing was changed: 1 thing blocks the migration.\n\nBlockers (1)\n  Deployment a/b: it is paused\n    do: resume it',
  )
  await hasReplicas(stage, 1)
  assert.match(await stage.run('get', 'configmap', '-n', 'eip-admission', '-o', 'name'), /^(?!.*takeover)/s)
})

test('without a takeover there is nothing to undo', async () => {
  const { code, output } = await runTakeover(stage, 'undo')
  assert.is(code, 1)
  assert.match(output, 'has no record of a takeover')
})

/** Checks that users, routers and the predecessor see the same as before the takeover. */
async function isAsFound(): Promise<void> {
  await predecessorLeads(stage)
  await hasReplicas(stage, 1)
  assert.equal(await metallbObjects(stage), before.objects)
  assert.equal(await serviceFacts(stage), before.services)
  assert.is(await stage.run('get', 'elasticips', '-o', 'name'), '')
  nothingBought()
}

/** As long as for a person. */
const lockMs = 15_000

/** Starts an apply that waits for our process, which is never started. */
const waitingApply = once(async (): Promise<{ child: ChildProcess; ended: Promise<Ran> }> => {
  const plan = await planFor(stage)
  return new Promise((resolve, reject) => {
    const ended = runTakeover(stage, 'apply', {
      plan,
      lockMs,
      seen: (output, child) => {
        if (output.includes(standby)) resolve({ child, ended })
      },
    })
    ended.then(({ output }) => reject(new Error(output)), reject)
  })
})
const holder = async () =>
  (await stage.client.get(leases, { namespace: 'eip-admission', name: 'eip-admission-takeover' }))?.spec?.holderIdentity

test('while one apply works, another one and undo are refused, and say who works since when', async () => {
  await waitingApply()
  for (const command of ['apply', 'undo'] as const) {
    const { code, output } = await runTakeover(stage, command, { plan: await planFor(stage), lockMs })
    assert.is(code, 1, output)
    assert.match(output, /`takeover apply` of .+@.+ has been running since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/)
    assert.match(output, 'wait until it has ended, or end it there')
  }
})

test('an apply that is frozen loses its place to undo, which leaves what was found, and changes nothing when it wakes', async () => {
  const { child, ended } = await waitingApply()
  child.kill('SIGSTOP')
  const { code, output } = await runTakeover(stage, 'undo', { lockMs })
  assert.is(code, 0, output)
  assert.match(output, /has been running since .*; waiting up to 15 s to see whether it is still running/)
  child.kill('SIGCONT')
  const woken = await ended
  assert.is(woken.code, 1, woken.output)
  assert.match(woken.output, 'another run took over while this one could not reach the API server', woken.output)
  await isAsFound()
  const record = ['configmap', '-n', 'eip-admission', 'eip-admission-takeover', '--ignore-not-found']
  assert.is(await stage.run('get', ...record), '')
})

test('apply, killed after its record and while it waits for our process', async () => {
  await besideOurs(async () => {
    const plan = await planFor(stage)
    for (const step of [standby, 'Let eip-admission lead']) {
      const { output } = await runTakeover(stage, 'apply', { plan, at: kill(step) })
      assert.match(output, step)
    }
    const { code, output } = await runTakeover(stage, 'apply', { plan: await planFor(stage) })
    assert.is(code, 0, output)
    assert.match(output, 'Taken over: 3 Services')
  })
  await isTakenOver()
  nothingBought()
})

test("after apply cleanup warns, names undo, and leaves the predecessor's finalizer for it", async () => {
  const { stdout } = await typed(['cleanup', `--kubeconfig=${stage.controlPlane.kubeconfig}`])
  assert.match(stdout, 'eip-admission takeover undo')
  assert.match(stdout, /would remove the finalizer eip-admission.dev\/address-cleanup from Service/)
  assert.match(stdout, `The finalizer ${upstream} stays on these Services`)
})

test('undo asks for our process, and leaves what was found though it is killed', async () => {
  const waiting = await runTakeover(stage, 'undo', { at: { text: 'stop every', signal: 'SIGINT' } })
  assert.is(waiting.code, 1, waiting.output)
  assert.match(waiting.output, 'Stopped. Completed steps are kept.')
  assert.is(await holder(), '', 'its place is free at once')
  await product?.stop()
  for (const step of ['] Stop every eip-admission', '] Remove the ElasticIPs']) {
    const { output } = await runTakeover(stage, 'undo', { at: kill(step) })
    assert.match(output, step)
  }
  const { code, output } = await runTakeover(stage, 'undo')
  assert.is(code, 0, output)
  await isAsFound()
})

test('round 2: a Service and a node that came since have the names of the predecessor after undo', async () => {
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
