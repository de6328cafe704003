import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { KubeError } from '../../../kube/errors.ts'
import { nodes } from '../../../kube/resource.ts'
import { makeMachine } from './builders.ts'
import { graceMs, makeCluster, monitorMs, shutdown } from './lifecycle-cluster.ts'

test('a ready node costs no call, whatever happened to its machine', async () => {
  const { look, cloud, isGone, node } = makeCluster(3)
  isGone(1)
  assert.equal(await look(1), {})
  assert.equal(cloud.asked, [])
  assert.ok(node(1))
})

test('a node is deleted when its machine is missing at two looks, some time apart', async () => {
  const { look, isGone, is, node, said, time } = makeCluster(4)
  isGone(1)
  is(1, { ready: 'Unknown' })
  assert.equal(await look(1), { againInMs: graceMs })
  time.ms = graceMs - 1
  assert.equal(await look(1), { againInMs: 1 })
  assert.ok(node(1))
  time.ms = 2 * graceMs
  await look(1)
  assert.is(node(1), undefined)
  assert.equal(said, ['worker-1 DeletingNode Deleting node worker-1 because it does not exist in the cloud provider'])
})

test('a node that the API server does not delete stays, and an Event says why', async () => {
  const { look, isGone, is, node, said, time, hooks } = makeCluster(4)
  isGone(1)
  is(1, { ready: 'Unknown' })
  await look(1)
  time.ms = 2 * graceMs
  hooks.before = ({ verb }) => {
    if (verb === 'remove') throw new KubeError('remove Node worker-1: no (403)', { status: 403, reason: 'Forbidden' })
  }
  await look(1).catch(() => undefined)
  assert.ok(node(1))
  assert.is(said.at(-1), 'worker-1 DeletingNodeFailed Deleting node worker-1: remove Node worker-1: no (403)')
})

test('a machine that is seen in between restarts the time', async () => {
  const { look, cloud, is, isGone, node, time } = makeCluster(4)
  const [machine] = cloud.all
  isGone(1)
  is(1, { ready: 'Unknown' })
  await look(1)
  time.ms = 10_000
  cloud.all = machine ? [...cloud.all, machine] : cloud.all
  await look(1)
  isGone(1)
  time.ms = 40_000
  assert.equal(await look(1), { againInMs: graceMs })
  assert.ok(node(1))
})

test('a node that is ready in between restarts the time', async () => {
  const { look, is, isGone, node, time } = makeCluster(4)
  isGone(1)
  for (const [ms, ready] of [
    [0, 'Unknown'],
    [10_000, 'True'],
  ] as const) {
    time.ms = ms
    is(1, { ready })
    await look(1)
  }
  is(1, { ready: 'Unknown' })
  time.ms = 40_000
  assert.equal(await look(1), { againInMs: graceMs })
  assert.ok(node(1))
})

const troubles = [
  { what: '401', error: new CloudError('no such key', { fault: 'auth', outcome: 'nothing' }) },
  { what: '500 or a time-out', error: new CloudError('down', { fault: 'unavailable', outcome: 'nothing' }) },
  { what: '429', error: new CloudError('slowly', { fault: 'rate-limit', outcome: 'nothing', retryAfterMs: 9_000 }) },
]
for (const { what, error } of troubles)
  test(`${what} deletes nothing, and what was seen before counts no more`, async () => {
    const { look, cloud, is, isGone, node, time } = makeCluster(4)
    isGone(1)
    is(1, { ready: 'Unknown' })
    await look(1)
    cloud.trouble = error
    time.ms = 40_000
    assert.is(await look(1).catch((thrown: unknown) => thrown), error)
    cloud.trouble = undefined
    time.ms = 80_000
    assert.equal(await look(1), { againInMs: graceMs })
    assert.ok(node(1))
  })

const lies = [
  { what: 'lists no machine at all', listed: [], says: /lists no machine at all, which proves nothing/ },
  {
    what: 'lists none whose nodes are ready: another project',
    listed: [makeMachine({ id: 'm-99', name: 'other' })],
    says: /lists none of the machines whose nodes are ready either/,
  },
]
for (const { what, listed, says } of lies)
  test(`no node goes where the provider ${what}`, async () => {
    const { look, cloud, is, isGone, node, said, time } = makeCluster(4)
    isGone(1)
    cloud.listed = listed
    is(1, { ready: 'Unknown' })
    for (const ms of [0, 40_000, 80_000]) {
      time.ms = ms
      await look(1)
    }
    assert.ok(node(1))
    assert.ok(said.every((text) => says.test(text) && text.startsWith('worker-1 NodeNotDeleted')))
    assert.is(said.length, 3)
  })

test('a node stays if the provider says that its machine no longer exists but lists it', async () => {
  const { look, cloud, is, isGone, node } = makeCluster(4)
  cloud.listed = cloud.all
  isGone(1)
  is(1, { ready: 'Unknown' })
  assert.match(String(await look(1).catch((error: unknown) => error)), /does not exist, but lists it/)
  assert.ok(node(1))
})

test('a node whose kubelet names its machine in capitals stays, because the machine exists', async () => {
  const { look, cloud, is, node, time } = makeCluster(4)
  cloud.all = cloud.all.map((machine) => (machine.id === 'm-1' ? { ...machine, name: 'host-1' } : machine))
  is(1, { ready: 'Unknown', providerID: 'equinixmetal://M-1' })
  for (const ms of [0, 40_000]) {
    time.ms = ms
    await look(1)
  }
  assert.ok(node(1))
})

test('a machine that was replaced under its name is for a person to sort out', async () => {
  const { look, cloud, is, isGone, node, said, time } = makeCluster(4)
  isGone(1)
  cloud.all = [...cloud.all, makeMachine({ id: 'm-77', name: 'worker-1' })]
  is(1, { ready: 'Unknown' })
  for (const ms of [0, 40_000]) {
    time.ms = ms
    await look(1)
  }
  assert.ok(node(1))
  assert.match(said[0] ?? '', /machine m-1 no longer exists, but m-77 also has the name worker-1\..*kubectl delete/)
})

test('many at once count as a mistake until an operator deletes some nodes', async () => {
  const { look, is, isGone, node, said, time, client } = makeCluster(20)
  const lost = [1, 2, 3, 4, 5, 6]
  for (const n of lost) {
    isGone(n)
    is(n, { ready: 'Unknown' })
  }
  for (const ms of [0, 40_000, 3_600_000]) {
    time.ms = ms
    for (const n of lost) await look(n)
  }
  assert.ok(lost.every((n) => node(n)))
  assert.match(
    said.at(-1) ?? '',
    /worker-6 NodeNotDeleted .*6 nodes .*until an operator intervenes\. .*kubectl delete node/,
  )
  for (const n of lost) await client.remove(nodes, { name: `worker-${n}` })
  for (const n of lost) await look(n)
  isGone(7)
  is(7, { ready: 'Unknown' })
  for (const ms of [3_700_000, 3_800_000]) {
    time.ms = ms
    await look(7)
  }
  assert.is(node(7), undefined)
})

test('half of our nodes may be deleted at once, however many nodes of other providers there are', async () => {
  const { look, is, isGone, node, said, time } = makeCluster(12)
  for (const n of [5, 6, 7, 8, 9, 10, 11, 12]) is(n, { providerID: `aws:///eu-west-1a/i-${n}` })
  const lost = [1, 2, 3]
  for (const n of lost) {
    isGone(n)
    is(n, { ready: 'Unknown' })
  }
  for (const ms of [0, 40_000]) {
    time.ms = ms
    for (const n of lost) await look(n)
  }
  assert.ok(lost.every((n) => node(n)))
  assert.match(said[0] ?? '', /worker-1 NodeNotDeleted .*3 nodes would be deleted/)
})

test('with --node-removal=report it is only reported', async () => {
  const { look, is, isGone, node, said, time } = makeCluster(4, 'report')
  isGone(1)
  is(1, { ready: 'Unknown' })
  for (const ms of [0, 40_000]) {
    time.ms = ms
    await look(1)
  }
  assert.ok(node(1))
  assert.match(said[0] ?? '', /--node-removal=report/)
})

test('a node that registers again while it is judged stays', async () => {
  const { look, is, isGone, node, time } = makeCluster(4)
  isGone(1)
  is(1, { ready: 'Unknown' })
  await look(1)
  is(1, { ready: 'Unknown', uid: 'uid-new' })
  time.ms = 40_000
  assert.equal(await look(1), { againInMs: graceMs })
  assert.ok(node(1))
})

test('off and on are written on the node, beside what others wrote', async () => {
  const mine = { key: 'example.com/mine', effect: 'NoExecute' } as const
  const { look, cloud, is, taints, time } = makeCluster(2)
  const becomes = (state: 'on' | 'off' | 'changing') => {
    cloud.all = cloud.all.map((machine) => ({ ...machine, state }))
    time.ms += 10_000
  }
  is(1, { ready: 'Unknown', taints: [mine] })
  becomes('off')
  await look(1)
  assert.equal(taints(1), [mine, shutdown])
  becomes('changing')
  await look(1)
  assert.equal(taints(1), [mine, shutdown])
  becomes('on')
  await look(1)
  assert.equal(taints(1), [mine])
})

test('a ready node is on, which costs no call to see', async () => {
  const { look, cloud, is, taints } = makeCluster(2)
  is(1, { taints: [shutdown] })
  await look(1)
  assert.equal([taints(1), cloud.asked], [[], []])
})

for (const providerID of ['aws:///eu-west-1a/i-01', 'i-01', ''])
  test(`a node of another cloud costs nothing and is left alone: ${providerID || 'none'}`, async () => {
    const { look, cloud, is, node } = makeCluster(2)
    is(1, { providerID, ready: 'Unknown', taints: [shutdown] })
    const before = node(1)
    assert.equal([await look(1), node(1), cloud.asked], [{}, before, []])
  })

test('events of a node that is not ready cost nothing between two looks, and looks get rarer', async () => {
  const { look, cloud, is, time } = makeCluster(2)
  is(1, { ready: 'Unknown' })
  assert.equal(await look(1), { againInMs: monitorMs })
  time.ms = 1_000
  assert.equal(await look(1), { againInMs: monitorMs - 1_000 })
  time.ms = 40_000
  assert.equal(await look(1), { againInMs: 20_000 })
  time.ms = 900_000
  assert.equal(await look(1), { againInMs: 12 * monitorMs })
  assert.equal(cloud.asked, ['m-1', 'm-1', 'm-1'])
})

test('many nodes that are not ready share one list', async () => {
  const { look, cloud, is, time } = makeCluster(50)
  const all = Array.from({ length: 50 }, (_, n) => n + 1)
  for (const n of all) is(n, { ready: 'Unknown' })
  for (const n of all) await look(n)
  time.ms = 10_000
  cloud.asked.length = 0
  for (const n of all) await look(n)
  assert.equal(cloud.asked, ['list'])
})

test('if a list does not say which machines are off, each is read by its id', async () => {
  const { look, cloud, is, taints } = makeCluster(12)
  const all = Array.from({ length: 12 }, (_, n) => n + 1)
  cloud.listed = cloud.all.map((machine) => ({ ...machine, state: 'unknown' }))
  cloud.all = cloud.all.map((machine) => ({ ...machine, state: 'off' }))
  for (const n of all) is(n, { ready: 'Unknown' })
  for (const n of all) await look(n)
  assert.ok(cloud.asked.includes('list'))
  assert.equal(
    all.map(taints),
    all.map(() => [shutdown]),
  )
})

test.run()
