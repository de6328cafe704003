// Nodes as kubelets register them, and the fields that they get from their machines.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { uninitialized } from '../../controllers/nodes/taints.ts'
import type { Node } from '../../kube/objects.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually } from './eventually.ts'
import { cloudTaints, ipOf, simulatedNodes } from './simulated-nodes.ts'
import { loadBalancer } from './manifests.ts'
import { once } from './once.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const { register, settled, startNode, device, node, events } = simulatedNodes(stage)
const { devices, calls } = stage.cloud.control
const env = { METAL_METRO_NAME: 'da', METAL_LOAD_BALANCER: '' }
const addressesOf = ({ status }: Node) => status?.addresses?.map(({ type, address }) => `${type} ${address}`)

test('a replica with --only=webhooks does not watch nodes', async () => {
  const replica = await stage.start({ env, flags: ['--only=webhooks'] })
  try {
    device('early')
    await register('early')
    await sleep(1000)
    assert.equal(cloudTaints(await node('early')), [`${uninitialized}:NoSchedule`])
    assert.not.match(readFileSync(stage.logOf('eip-admission'), 'utf8'), '"kind":"Node"')
  } finally {
    await replica.stop()
  }
})

let product: Product | undefined
const startControllers = once(async () => {
  product = await stage.start({ env })
})

test('without a load balancer, starting the controllers initializes a node that waited', async () => {
  device('waiting')
  await register('waiting')
  await startControllers()
  await settled('waiting')
})

test('a node gets its id, labels and addresses, and loses its taint', async () => {
  await startControllers()
  const machine = device('full')
  await register('full', { nodeIp: ipOf(machine, 4, 'private') })
  const ready = await settled('full')
  assert.is(ready.spec.providerID, `equinixmetal://${machine.id}`)
  assert.equal(addressesOf(ready), [
    `InternalIP ${ipOf(machine, 4, 'private')}`,
    'Hostname full',
    `ExternalIP ${ipOf(machine, 4, 'public')}`,
    `ExternalIP ${ipOf(machine, 6, 'public')}`,
  ])
  const { labels = {} } = ready.metadata
  for (const name of ['node.kubernetes.io/instance-type', 'beta.kubernetes.io/instance-type'])
    assert.is(labels[name], 'c3.small.x86')
  for (const name of ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'])
    assert.is(labels[name], 'da')
  assert.is(labels['topology.kubernetes.io/zone'], labels['failure-domain.beta.kubernetes.io/zone'])
  await eventually(
    'an Event reports it',
    async () =>
      (await events('full')).includes('cloud-node-controller: Normal Synced Node synced successfully') || undefined,
  )
})

test('a node whose kubelet reports no address is found by its name', async () => {
  await startControllers()
  const machine = device('silent')
  await register('silent')
  assert.equal(addressesOf(await settled('silent')), [
    'Hostname silent',
    `InternalIP ${ipOf(machine, 4, 'private')}`,
    `ExternalIP ${ipOf(machine, 4, 'public')}`,
    `ExternalIP ${ipOf(machine, 6, 'public')}`,
  ])
})

test('an address of a VLAN, which the provider does not know, comes first and once, in both families', async () => {
  await startControllers()
  const machine = device('vlan')
  await register('vlan', { nodeIp: '192.168.7.9,fd00:0::9' })
  assert.equal(addressesOf(await settled('vlan')), [
    'InternalIP 192.168.7.9',
    'InternalIP fd00::9',
    'Hostname vlan',
    `ExternalIP ${ipOf(machine, 4, 'public')}`,
    `ExternalIP ${ipOf(machine, 6, 'public')}`,
  ])
})

test('a node that has another name than its machine is found by its public address', async () => {
  await startControllers()
  const machine = device('machine-name')
  await register('node-name', { nodeIp: ipOf(machine, 4, 'public') })
  assert.is((await settled('node-name')).spec.providerID, `equinixmetal://${machine.id}`)
})

for (const [form, write] of Object.entries({
  'packet://': (id: string) => `packet://${id}`,
  bare: (id: string) => id,
})) {
  test(`a providerID of a predecessor is understood and kept: ${form}`, async () => {
    await startControllers()
    const name = `older-${form.replace(/\W/g, '')}`
    const { id } = device(`${name}-machine`)
    await register(name, { providerID: write(id) })
    assert.is((await settled(name)).spec.providerID, write(id))
  })
}

test('a node whose name two machines have is not initialized, and an Event says why', async () => {
  await startControllers()
  const [one, other] = [device('twin'), device('twin')]
  await register('twin')
  await eventually(
    'an Event reports it',
    async () => /Warning SyncNodeFailed .*2 machines may be node twin/.test(await events('twin')) || undefined,
  )
  assert.equal(cloudTaints(await node('twin')), [`${uninitialized}:NoSchedule`])
  devices.remove(other.id)
  // A change of the node makes the controller check again at once.
  await sleep(2000)
  await stage.run('annotate', 'node', 'twin', 'example.com/one=left')
  assert.is((await settled('twin')).spec.providerID, `equinixmetal://${one.id}`)
})

const foreigners = {
  'another cloud': { providerID: 'aws:///eu-west-1a/i-0123456789' },
  'no cloud': { cloudProvider: 'internal' },
} as const
for (const [whose, started] of Object.entries(foreigners)) {
  test(`a node of ${whose} is never touched, whatever machines are called`, async () => {
    await startControllers()
    const name = `foreign-${whose.replace(' ', '-')}`
    const { id } = device(name)
    await register(name, { nodeIp: '192.0.2.9', ...started })
    const before = await node(name)
    devices.remove(id)
    await startNode(`after-${name}`)
    await sleep(1000)
    assert.equal(await node(name), before)
  })
}

test('fifty nodes that come up at once cost a list, not a call each', async () => {
  await startControllers()
  const names = Array.from({ length: 50 }, (_, n) => `herd-${n}`)
  for (const name of names) device(name)
  calls.clear()
  await Promise.all(names.map((name) => register(name)))
  for (const name of names) await settled(name)
  const asked = calls.count('GET /projects/{id}/devices') + calls.count('GET /devices/{id}')
  assert.ok(asked <= 70, `${asked} calls`)
})

test('without the right to read nodes Services still get their addresses', async () => {
  await startControllers()
  stage.checkLog()
  const role = JSON.parse(await stage.run('get', 'clusterrole', 'eip-admission', '-o', 'json')) as {
    rules: { resources: string[] }[]
  }
  const rules = role.rules.filter(({ resources }) => !resources.some((one) => one.startsWith('nodes')))
  await stage.run('patch', 'clusterrole', 'eip-admission', '--type=merge', '-p', JSON.stringify({ rules }))
  await product?.stop()
  await stage.start({ env: { METAL_METRO_NAME: 'da' } })
  await stage.create(loadBalancer('web'))
  await stage.settled('web')
})

test.after(() => stage.stop())

test.run()
