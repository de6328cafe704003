import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { machineList } from '../../../controllers/dependencies.ts'
import { machineRefresh, nodeIdentityController } from '../../../controllers/nodes/declaration.ts'
import type { Node } from '../../../kube/objects.ts'
import { fakeMachines, ids, makeMachine, makeNode, waiting } from './builders.ts'

test('only a list that began after this process saw the node decides, not an earlier node of its name', async () => {
  const time = { ms: 0 }
  const { cloud, port } = fakeMachines(makeMachine())
  const machines = machineList({ machines: port, now: () => time.ms })
  let node: Node | undefined
  let changed = (_name: string, _current: Node | undefined) => {}
  const deps = {
    // The API server has no such node, so nothing is written.
    client: { get: () => Promise.resolve(undefined) },
    caches: {
      nodes: { get: () => node, list: () => [], onChange: (listener: typeof changed) => void (changed = listener) },
    },
    machines,
    vendor: { providerIds: ids },
    events: { of: () => ({ record() {} }) },
    settings: { process: {} },
    ownAddresses: { users: () => [] },
  } as unknown as Parameters<typeof nodeIdentityController>[0]
  const refresh = machineRefresh({ machines, hasNodes: () => true })
  const { reconciler } = nodeIdentityController(deps, refresh, () => time.ms)
  const { signal } = new AbortController()
  const look = async () => {
    time.ms += 1
    await reconciler.reconcile('worker-1', signal)
  }
  const register = (uid: string) => {
    node = makeNode({ uid, taints: [waiting] })
    changed('worker-1', node)
  }
  register('1')
  await machines.within(0, signal)
  await look()
  assert.equal(cloud.asked, ['list'])
  register('2')
  await look()
  assert.equal(cloud.asked, ['list', 'list'])
})

test.run()
