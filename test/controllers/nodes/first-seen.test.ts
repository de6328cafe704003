import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { machineList } from '../../../controllers/dependencies.ts'
import { machineRefresh, nodeIdentityController } from '../../../controllers/nodes/declaration.ts'
import type { Node } from '../../../kube/objects.ts'
import { makeRecord, makeService } from '../../builders.ts'
import { external, fakeMachines, ids, makeMachine, makeNode, waiting } from './builders.ts'

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

test('a kubelet is warned of an address that the record of a Service holds, not of one that it only requests', async () => {
  const [held, requested] = ['203.0.113.40', '203.0.113.41']
  const { port } = fakeMachines(makeMachine())
  const machines = machineList({ machines: port, now: () => 0 })
  const node = makeNode({ addresses: [external(held), external(requested)], taints: [waiting] })
  const records = new Map([['default.web', makeRecord({ phase: 'Bound', address: held })]])
  const messages: string[] = []
  const deps = {
    client: { get: () => Promise.resolve(undefined) },
    caches: {
      nodes: { get: () => node, list: () => [node], onChange() {} },
      records: { get: (name: string) => records.get(name) },
    },
    machines,
    vendor: { providerIds: ids },
    events: { of: () => ({ record: (_node: Node, { message }: { message: string }) => messages.push(message) }) },
    settings: { process: {} },
    ownAddresses: { users: () => [makeService()] },
  } as unknown as Parameters<typeof nodeIdentityController>[0]
  const refresh = machineRefresh({ machines, hasNodes: () => true })
  const { reconciler } = nodeIdentityController(deps, refresh, () => 0)
  await reconciler.reconcile('worker-1', new AbortController().signal)
  assert.is(messages.length, 1)
  assert.match(messages[0] ?? '', `${held} of the node is the address of Service default/web`)
})

test.run()
