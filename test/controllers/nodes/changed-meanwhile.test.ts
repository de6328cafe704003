// Nodes that change while we decide about them: the cache shows them late, or a write comes between our read and ours.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isConflict } from '../../../kube/errors.ts'
import { nodes } from '../../../kube/resource.ts'
import { graceMs, makeCluster, shutdown } from './lifecycle-cluster.ts'

const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const

/** A cluster in which worker-1 is away, and would be deleted at the next look: its machine is gone for long enough. */
async function makeDue() {
  const cluster = makeCluster(4)
  cluster.isGone(1)
  cluster.is(1, { ready: 'Unknown' })
  await cluster.look(1)
  cluster.time.ms = graceMs
  return cluster
}

/** Something happens once, right after the controller has read a node. */
function afterRead({ hooks }: ReturnType<typeof makeCluster>, change: () => void): void {
  hooks.after = ({ verb }) => {
    if (verb !== 'get') return
    hooks.after = undefined
    change()
  }
}

const isRefused = async (look: Promise<unknown>) => isConflict(await look.catch((error: unknown) => error))

test('a node that is ready again stays, although the cache still shows it as it was', async () => {
  const { isUnseen, look, node, said } = await makeDue()
  isUnseen(1, { ready: 'True' })
  await look(1)
  assert.ok(node(1))
  assert.equal(said, [])
})

test('a node that has registered again stays, although the cache still shows the one before', async () => {
  const { isUnseen, look, node, said } = await makeDue()
  isUnseen(1, { ready: 'Unknown', uid: 'uid-new' })
  await look(1)
  assert.is(node(1)?.metadata.uid, 'uid-new')
  assert.equal(said, [])
})

test('a node that is ready again between the last read and its deletion stays', async () => {
  const cluster = await makeDue()
  afterRead(cluster, () => cluster.is(1, { ready: 'True' }))
  assert.ok(await isRefused(cluster.look(1)))
  assert.ok(cluster.node(1))
  assert.equal(await cluster.look(1), {})
  assert.ok(cluster.node(1))
})

test('a node that has registered again gets no taint of the one before', async () => {
  const { cloud, is, isUnseen, look, taints } = makeCluster(2)
  cloud.all = cloud.all.map((machine) => ({ ...machine, state: 'off' }))
  is(1, { ready: 'Unknown' })
  isUnseen(1, { ready: 'Unknown', uid: 'uid-new' })
  await look(1)
  assert.equal(taints(1), [])
})

test('nodes that a person has just deleted keep no other one from its deletion', async () => {
  const { client, is, isGone, look, node, time } = makeCluster(12)
  const gone = [1, 2, 3, 4, 5, 6]
  for (const n of gone) {
    isGone(n)
    is(n, { ready: 'Unknown' })
  }
  for (const n of gone) await look(n)
  for (const n of [2, 3, 4, 5, 6]) await client.remove(nodes, { name: `worker-${n}` })
  time.ms = graceMs
  await look(1)
  assert.is(node(1), undefined)
})

test('a taint that others write while we write ours stays', async () => {
  const cluster = makeCluster(2)
  const { cloud, is, look, taints, time } = cluster
  cloud.all = cloud.all.map((machine) => ({ ...machine, state: 'off' }))
  is(1, { ready: 'Unknown' })
  afterRead(cluster, () => is(1, { ready: 'Unknown', taints: [cordon] }))
  assert.ok(await isRefused(look(1)))
  time.ms = 60_000
  await look(1)
  assert.equal(taints(1), [cordon, shutdown])
})

test('a taint that others write while we remove ours stays', async () => {
  const cluster = makeCluster(2)
  const { is, look, taints } = cluster
  is(1, { taints: [shutdown] })
  afterRead(cluster, () => is(1, { taints: [shutdown, cordon] }))
  assert.ok(await isRefused(look(1)))
  await look(1)
  assert.equal(taints(1), [cordon])
})

test.run()
