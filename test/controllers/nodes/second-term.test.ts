import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { machineList } from '../../../controllers/dependencies.ts'
import {
  nodeIdentityController,
  nodeLifecycleController,
  machineRefresh,
} from '../../../controllers/nodes/declaration.ts'
import { nodes } from '../../../kube/resource.ts'
import { makeMetrics } from '../../../telemetry/metrics/metrics.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { silentLog } from '../../fakes/log.ts'
import { fakeMachines, ids, makeMachine, makeNode, own } from './builders.ts'

const { signal } = new AbortController()

type Deps = Parameters<typeof nodeLifecycleController>[0] & Parameters<typeof nodeIdentityController>[0]

/** The controllers of a process, and the cluster that they act on. */
function makeProcess(count: number) {
  const machines = Array.from({ length: count }, (_, at) => at + 1).map((n) =>
    makeMachine({ id: `m-${n}`, name: `worker-${n}` }),
  )
  const { cloud, port } = fakeMachines(...machines)
  const api = apiServer()
  const find = (name: string) => api.stored(nodes).find(({ metadata }) => metadata.name === name)
  const metrics = makeMetrics()
  const list = machineList({ machines: port, now: () => performance.now() })
  const deps = {
    client: api.client,
    caches: { nodes: { get: find, list: () => api.stored(nodes), onChange() {} } },
    machines: list,
    vendor: { providerIds: ids },
    events: { of: () => ({ record() {} }) },
    metrics,
    settings: {
      process: { nodeMonitorMs: 0, nodeRemovalDelayMs: 30_000, nodeRemoval: 'delete', maxNodeRemovals: 5 },
    },
    log: silentLog,
    ownAddresses: { users: () => [] },
  } as unknown as Deps
  for (const { id, name } of machines) api.put(nodes, makeNode({ name, providerID: `equinixmetal://${id}` }))
  return { deps, api, cloud, list, find, metrics }
}

/** The controller that follows the machines of three nodes, at a time that the test sets. */
function makeLifecycle(count = 3) {
  const { deps, api, cloud, find, metrics } = makeProcess(count)
  const time = { ms: 0 }
  const { prepare, keys, reconciler } = nodeLifecycleController(deps, () => time.ms)
  return {
    time,
    find,
    /** Begins a term, as the loop does. */
    lead: async () => {
      await prepare?.(signal)
      reconciler.keepOnly?.(new Set(keys()))
    },
    /** A person deletes a node while another replica leads: no event comes here. */
    isDeleted: (n: number) => api.drop(nodes, { name: `worker-${n}` }),
    check: (name: string) => reconciler.reconcile(name, signal),
    /** Deletes the machine of a node at the cloud. */
    lose: (n: number) => {
      cloud.all = cloud.all.filter(({ id }) => id !== `m-${n}`)
      api.put(nodes, makeNode({ name: `worker-${n}`, providerID: `equinixmetal://m-${n}`, ready: 'Unknown' }))
    },
    /** How many nodes have lost their machines, by the metric. */
    missing: async () => /^eip_admission_nodes_without_machine (\S+)$/m.exec(await metrics.text())?.[1],
  }
}

test('a new term restarts the time of a missing machine', async () => {
  const { time, find, lead, check, lose } = makeLifecycle()
  lose(1)
  await lead()
  await check('worker-1')
  time.ms = 40_000
  await lead()
  await check('worker-1')
  assert.ok(find('worker-1'))
  time.ms = 70_000
  await check('worker-1')
  assert.not(find('worker-1'))
})

test('a new term still deletes no node after a refusal, even if a ready node is healthy', async () => {
  const { time, find, lead, check, lose } = makeLifecycle()
  lose(1)
  lose(2)
  await lead()
  for (const name of ['worker-1', 'worker-2']) await check(name)
  time.ms = 30_000
  for (const name of ['worker-1', 'worker-2']) await check(name)
  await lead()
  for (const name of ['worker-3', 'worker-1']) await check(name)
  time.ms = 3_600_000
  await check('worker-1')
  assert.ok(find('worker-1'))
})

test('nodes that a person deleted in another term do not block a removal a day later', async () => {
  const { time, find, lead, check, lose, isDeleted, missing } = makeLifecycle(5)
  const gone = [1, 2, 3]
  gone.forEach(lose)
  await lead()
  for (const at of [0, 30_000]) {
    time.ms = at
    for (const n of gone) await check(`worker-${n}`)
  }
  assert.ok(find('worker-1'), 'the limit is exceeded')
  gone.forEach(isDeleted)
  await lead()
  assert.is(await missing(), '0')
  lose(4)
  for (const at of [86_400_000, 86_430_000]) {
    time.ms = at
    await check('worker-4')
  }
  assert.not(find('worker-4'))
})

test('the metric counts the nodes without a machine, in a second term too, until they are deleted', async () => {
  const { time, lead, check, lose, missing } = makeLifecycle()
  await lead()
  assert.is(await missing(), '0')
  lose(1)
  await check('worker-1')
  assert.is(await missing(), '1')
  await lead()
  assert.is(await missing(), '1')
  await check('worker-1')
  time.ms = 30_000
  await check('worker-1')
  assert.is(await missing(), '0')
})

test('a new term still counts the nodes that an earlier one deleted', async () => {
  const { time, find, lead, check, lose } = makeLifecycle()
  lose(1)
  await lead()
  await check('worker-1')
  time.ms = 30_000
  await check('worker-1')
  assert.not(find('worker-1'))
  await lead()
  lose(2)
  await check('worker-2')
  time.ms = 60_000
  await check('worker-2')
  assert.ok(find('worker-2'))
})

test('a new term writes no addresses from a list of an earlier one', async () => {
  const { deps, cloud, list, find } = makeProcess(3)
  const refresh = machineRefresh({ machines: list, hasNodes: () => true })
  const { prepare, reconciler } = nodeIdentityController(deps, refresh)
  const addresses = () => find('worker-1')?.status?.addresses?.map(({ address }) => address)
  await prepare?.(signal)
  await refresh.run(signal)
  cloud.all = cloud.all.map((machine) => ({ ...machine, addresses: [own('10.66.1.9')] }))
  await prepare?.(signal)
  await reconciler.reconcile('worker-1', signal)
  assert.is(addresses(), undefined)
  await refresh.run(signal)
  await reconciler.reconcile('worker-1', signal)
  assert.ok(addresses()?.includes('10.66.1.9'))
})

test.run()
