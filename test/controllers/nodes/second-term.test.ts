import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { machineList } from '../../../controllers/facts/machine-list.ts'
import { nodeIdentityController, nodeLifecycleController } from '../../../controllers/nodes/declaration.ts'
import { machineRefresh } from '../../../controllers/nodes/machine-refresh.ts'
import { nodes } from '../../../kube/resource.ts'
import { makeMetrics } from '../../../telemetry/metrics/metrics.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { silentLog } from '../../fakes/log.ts'
import { fakeMachines, ids, makeMachine, makeNode, own } from './builders.ts'

const { signal } = new AbortController()

type Deps = Parameters<typeof nodeLifecycleController>[0]

/** The controllers of a process, and the cluster that they act on. */
function makeProcess() {
  const machines = [1, 2, 3].map((n) => makeMachine({ id: `m-${n}`, name: `worker-${n}` }))
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
      process: { nodeMonitorMs: 0, nodeRemovalDelayMs: 3_600_000, nodeRemoval: 'delete', maxNodeRemovals: 5 },
    },
    log: silentLog,
  } as unknown as Deps
  for (const { id, name } of machines) api.put(nodes, makeNode({ name, providerID: `equinixmetal://${id}` }))
  return { deps, api, cloud, list, find, metrics }
}

test('whoever leads again counts the time of a missing machine anew', async () => {
  const { deps, api, cloud, find, metrics } = makeProcess()
  const { prepare, reconciler } = nodeLifecycleController(deps)
  const missing = async () => /^eip_admission_nodes_without_machine (\d+)$/m.exec(await metrics.text())?.[1]
  cloud.all = cloud.all.filter(({ id }) => id !== 'm-1')
  api.put(nodes, makeNode({ name: 'worker-1', providerID: 'equinixmetal://m-1', ready: 'Unknown' }))
  await prepare?.(signal)
  await reconciler.reconcile('worker-1', signal)
  assert.is(await missing(), '1')
  await prepare?.(signal)
  assert.is(await missing(), '0')
  await reconciler.reconcile('worker-1', signal)
  assert.is(await missing(), '1')
  assert.ok(find('worker-1'))
})

test('whoever leads again writes no addresses from a list of the time before', async () => {
  const { deps, cloud, list, find } = makeProcess()
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
