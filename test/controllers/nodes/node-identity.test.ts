import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../../../clouds/ports/machines.ts'
import { machineList } from '../../../controllers/dependencies.ts'
import { nodeIdentity } from '../../../controllers/nodes/node-identity.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { isConflict } from '../../../kube/errors.ts'
import type { Node } from '../../../kube/objects.ts'
import { nodes } from '../../../kube/resource.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { type Hooks, interposed } from '../../fakes/interposed.ts'
import { fakeMachines, ids, makeMachine, makeNode, own, waiting } from './builders.ts'

const { signal } = new AbortController()

function makeCluster(...machines: Machine[]) {
  const { cloud, port } = fakeMachines(...machines)
  const api = apiServer()
  const time = { ms: 0 }
  const said: string[] = []
  const written: string[] = []
  const list = machineList({ machines: port, now: () => time.ms })
  const watched: Pick<KubeClient, 'get' | 'patch'> = {
    get: (...at) => api.client.get(...at),
    patch: (resource, target, options) => {
      written.push(options?.subresource ?? 'node')
      return api.client.patch(resource, target, options)
    },
  }
  const hooks: Hooks = {}
  const seenAtMs = new Map<string, number>()
  /** The nodes of the cache that have changed since. */
  const late = new Map<string, Node>()
  const find = (name: string) => api.stored(nodes).find(({ metadata }) => metadata.name === name)
  const identity = nodeIdentity({
    client: interposed(watched, hooks),
    cached: { node: (name) => late.get(name) ?? find(name), nodes: () => api.stored(nodes) },
    machines: list,
    seenForMs: ({ metadata }) => time.ms - (seenAtMs.get(metadata.name) ?? time.ms),
    now: () => time.ms,
    ids,
    serviceWith: (address) => (address === '203.0.113.40' ? 'default/web' : undefined),
    event: (node, { reason }) => said.push(`${node.metadata.name} ${reason}`),
  })
  return {
    cloud,
    time,
    said,
    written,
    list,
    find,
    hooks,
    late,
    register: (facts: Parameters<typeof makeNode>[0]) => {
      const { metadata } = api.put(nodes, makeNode(facts))
      seenAtMs.set(metadata.name, time.ms)
    },
    look: (name = 'worker-1') => identity.reconcile(name, signal),
  }
}

const problemOf = async (look: Promise<unknown>) => String(await look.catch((error: unknown) => error))

test('a kubelet that uses the address of a Service as its own is warned', async () => {
  const { register, look, said } = makeCluster(makeMachine())
  register({ addresses: [{ type: 'InternalIP', address: '203.0.113.40' }] })
  await look().catch(() => undefined)
  assert.ok(said.includes('worker-1 ServiceAddressOnNode'), said.join())
})

test('a machine whose type is no valid label is reported until a person sets the label', async () => {
  const { register, look, said } = makeCluster(makeMachine({ type: 'Advance 1 (Gen 3)' }))
  register({ taints: [waiting] })
  await look()
  assert.ok(said.includes('worker-1 LabelNotPossible'), said.join())
  said.length = 0
  register({ providerID: 'equinixmetal://m-1', labels: { 'node.kubernetes.io/instance-type': 'advance-1' } })
  await look()
  assert.equal(said, [])
})

test('a new node takes two writes, and a second look none', async () => {
  const { register, look, written, said, find } = makeCluster(makeMachine())
  register({ taints: [waiting], ready: 'False' })
  await look()
  assert.equal(written, ['status', 'node'])
  assert.equal(find('worker-1')?.spec, { taints: [], providerID: 'equinixmetal://m-1' })
  await look()
  assert.equal([written.length, said], [2, ['worker-1 Synced']])
})

test('a node that another program identifies meanwhile gets no address and no label of the machine that we found', async () => {
  const { register, look, late, written } = makeCluster(makeMachine(), makeMachine({ id: 'm-2', name: 'other' }))
  register({ taints: [waiting], providerID: 'equinixmetal://m-2' })
  late.set('worker-1', makeNode({ taints: [waiting] }))
  await look()
  assert.equal(written, [])
})

test('fifty new nodes cost one list', async () => {
  const names = Array.from({ length: 50 }, (_, n) => `worker-${n}`)
  const { register, look, cloud, find } = makeCluster(
    ...names.map((name, n) => makeMachine({ id: `m-${n}`, name, addresses: [] })),
  )
  for (const name of names) register({ name, taints: [waiting] })
  await Promise.all(names.map(look))
  assert.equal(cloud.asked, ['list'])
  assert.ok(names.every((name, n) => find(name)?.spec.providerID === `equinixmetal://m-${n}`))
})

test('a machine that an older list lacks is looked up in a new one', async () => {
  const { register, look, cloud, list, time, find } = makeCluster()
  await list.within(0, signal)
  cloud.all = [makeMachine()]
  time.ms = 5_000
  register({ taints: [waiting] })
  await look()
  assert.is(find('worker-1')?.spec.providerID, 'equinixmetal://m-1')
})

test('a list that is older than the node decides nothing: a new one does', async () => {
  const { register, look, cloud, list, time, find } = makeCluster(makeMachine())
  await list.within(0, signal)
  time.ms = 5_000
  register({ taints: [waiting] })
  await look()
  assert.equal([cloud.asked, find('worker-1')?.spec.providerID], [['list', 'list'], 'equinixmetal://m-1'])
})

for (const { what, now } of [
  { what: 'gone', now: [] },
  { what: 'another', now: [makeMachine({ id: 'm-8', name: 'renamed', addresses: [] })] },
])
  test(`an address that has passed on is not followed to a machine that is ${what}`, async () => {
    const { register, look, cloud, list, time, find } = makeCluster(makeMachine({ id: 'm-8', name: 'old' }))
    await list.within(0, signal)
    cloud.all = [...now, makeMachine({ id: 'm-9' })]
    time.ms = 5_000
    register({ nodeIp: '10.66.1.3', taints: [waiting] })
    await look()
    assert.is(find('worker-1')?.spec.providerID, 'equinixmetal://m-9')
  })

test('a machine that an old list does not have yet takes part in the decision', async () => {
  const old = makeMachine({ id: 'm-8', name: 'worker-1.example.com', addresses: [own('10.0.0.2')] })
  const { register, look, cloud, list, time, find } = makeCluster(old)
  await list.within(0, signal)
  cloud.all = [old, makeMachine({ id: 'm-9', addresses: [own('10.0.0.2')] })]
  time.ms = 5_000
  register({ nodeIp: '10.0.0.2', taints: [waiting] })
  await look()
  assert.is(find('worker-1')?.spec.providerID, 'equinixmetal://m-9')
})

test('a list that is under way when the node registers decides nothing', async () => {
  const { register, look, cloud, list, time, find } = makeCluster(makeMachine({ id: 'm-8' }))
  const underWay = list.within(0, signal)
  cloud.all = [makeMachine({ id: 'm-9' })]
  time.ms = 1
  register({ taints: [waiting] })
  await Promise.all([underWay, look()])
  assert.is(find('worker-1')?.spec.providerID, 'equinixmetal://m-9')
})

test('while another machine has its private address a node waits, until its own machine shows it', async () => {
  const staging = makeMachine({ id: 'm-8', name: 'staging-web', addresses: [own('10.0.0.2')] })
  const { register, look, cloud, time, find } = makeCluster(staging, makeMachine({ id: 'm-9', addresses: [] }))
  register({ nodeIp: '10.0.0.2', taints: [waiting] })
  assert.match(await problemOf(look()), /2 machines may be node worker-1/)
  assert.is(find('worker-1')?.spec.providerID, undefined)
  cloud.all = [staging, makeMachine({ id: 'm-9', addresses: [own('10.0.0.2')] })]
  time.ms = 2_001
  await look()
  assert.is(find('worker-1')?.spec.providerID, 'equinixmetal://m-9')
})

test('an old list decides nothing: the name may have passed to another machine', async () => {
  const { register, look, cloud, list, time, find } = makeCluster(makeMachine({ id: 'm-8' }))
  await list.within(0, signal)
  cloud.all = [makeMachine({ id: 'm-9' })]
  time.ms = 60_000
  register({ taints: [waiting] })
  await look()
  assert.is(find('worker-1')?.spec.providerID, 'equinixmetal://m-9')
})

test('a settled node costs no call, and before the first list it waits for that', async () => {
  const { register, look, cloud, list, written } = makeCluster(makeMachine())
  register({ providerID: 'packet://m-1' })
  await look()
  assert.equal([cloud.asked, written], [[], []])
  await list.within(0, signal)
  await look()
  assert.equal([cloud.asked, written], [['list'], ['status', 'node']])
})

test('a machine that the list lacks is read by its id', async () => {
  const { register, look, cloud, find } = makeCluster(makeMachine())
  cloud.listed = []
  register({ providerID: 'm-1', taints: [waiting] })
  await look()
  assert.equal([cloud.asked, find('worker-1')?.spec.taints], [['list', 'm-1'], []])
})

test('a machine that was replaced under its name: the Event says what to do', async () => {
  const { register, look, list } = makeCluster(makeMachine({ id: 'm-2' }))
  await list.within(0, signal)
  register({ providerID: 'equinixmetal://m-1' })
  assert.match(await problemOf(look()), /m-1 no longer exists, but m-2 also has the name worker-1/)
})

test('a missing machine is reported for a ready node, and left to others for any other', async () => {
  const { register, look, list } = makeCluster(makeMachine({ id: 'm-2', name: 'other' }))
  await list.within(0, signal)
  register({ providerID: 'equinixmetal://m-1' })
  assert.match(await problemOf(look()), /its machine m-1 does not exist/)
  register({ providerID: 'equinixmetal://m-1', ready: 'Unknown' })
  assert.equal(await look(), {})
})

test('an invalid providerID is reported', async () => {
  const { register, look } = makeCluster(makeMachine())
  register({ providerID: 'equinixmetal://worker-1', taints: [waiting] })
  assert.match(await problemOf(look()), /its providerID equinixmetal:\/\/worker-1 does not belong to a machine/)
})

for (const { what, facts } of [
  { what: 'of another cloud', facts: { providerID: 'aws:///eu-west-1a/i-01', taints: [waiting] } },
  { what: 'whose kubelet waits for nobody', facts: {} },
]) {
  test(`a node ${what} costs nothing and is left alone`, async () => {
    const { register, look, cloud, written } = makeCluster(makeMachine())
    register(facts)
    assert.equal([await look(), cloud.asked, written], [{}, [], []])
  })
}

test('a node that has registered again gets no machine of the one before, which the cache still shows', async () => {
  const { register, look, cloud, list, time, find, late, written } = makeCluster(makeMachine())
  late.set('worker-1', makeNode({ taints: [waiting] }))
  register({ uid: 'uid-new', taints: [waiting] })
  assert.equal([await look(), written], [{}, []])
  assert.is(find('worker-1')?.spec.providerID, undefined)
  late.clear()
  cloud.all = [makeMachine({ id: 'm-2' })]
  time.ms = 60_000
  await list.within(0, signal)
  await look()
  assert.is(find('worker-1')?.spec.providerID, 'equinixmetal://m-2')
})

test('a taint that others write while the node waits for us stays', async () => {
  const mine = { key: 'example.com/mine', effect: 'NoExecute' } as const
  const { register, look, find, hooks } = makeCluster(makeMachine())
  register({ taints: [waiting] })
  hooks.after = ({ values: [, , options] }) => {
    if ((options as { subresource?: string } | undefined)?.subresource !== 'status') return
    hooks.after = undefined
    register({ taints: [waiting, mine] })
  }
  assert.ok(isConflict(await look().catch((error: unknown) => error)))
  await look()
  assert.equal(find('worker-1')?.spec, { taints: [mine], providerID: 'equinixmetal://m-1' })
})

test('addresses that a kubelet writes while we write those of the machine are read first', async () => {
  const { register, look, find, hooks } = makeCluster(makeMachine())
  register({ taints: [waiting] })
  hooks.after = ({ verb }) => {
    if (verb !== 'get') return
    hooks.after = undefined
    register({ taints: [waiting], addresses: [{ type: 'Hostname', address: 'worker-1.example.com' }] })
  }
  assert.ok(isConflict(await look().catch((error: unknown) => error)))
  await look()
  assert.is(find('worker-1')?.status?.addresses?.[0]?.address, 'worker-1.example.com')
})

test('while the provider is down a new node waits, and an Event says why', async () => {
  const { register, look, cloud, time, find } = makeCluster(makeMachine())
  cloud.trouble = new Error('down')
  register({ taints: [waiting] })
  assert.match(await problemOf(look()), 'down')
  cloud.trouble = undefined
  time.ms = 5_000
  await look()
  assert.is(find('worker-1')?.spec.providerID, 'equinixmetal://m-1')
})

test.run()
