import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { balancerControllers } from '../../../controllers/balancers/declaration.ts'
import type { Node } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import type { ClusterState } from '../../../ledger/identity/heartbeats.ts'
import { makeContext } from '../../commands/doctor/context.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { makeService } from '../../builders.ts'
import { makeSeen } from './builders.ts'

const { signal } = new AbortController()

type NodeListener = (name: string, current?: Node, previous?: Node) => void

/** The controller for a plain Service under these settings, and what listens to nodes. */
function declared(env: Record<string, string>) {
  const { settings, vendor } = makeContext({ env })
  const list = () => [makeService()]
  const listeners: NodeListener[] = []
  const onChange = (listener: NodeListener) => void listeners.push(listener)
  const [controller] = balancerControllers({
    caches: { services: { list, onChange() {} }, records: { onChange() {} }, nodes: { onChange } },
    want: () => ({ kind: 'managed', location: 'da', warnings: [] }),
    events: { of: () => ({ record() {} }) },
    vendor,
    settings,
  } as unknown as Parameters<typeof balancerControllers>[0])
  assert.ok(controller)
  return { controller, listeners }
}

/** How a reconcile of a Service with a managed balancer ends, where the cloud cannot be read, and what it asked. */
async function reconciled(state: ClusterState) {
  const { settings, vendor } = makeContext({ env: { METAL_LOAD_BALANCER: 'emlb:///da' } })
  const asked: string[] = []
  const client = new Proxy(
    {},
    {
      get: (_target, call) => () => {
        asked.push(String(call))
        return Promise.reject(new Error('down'))
      },
    },
  )
  const api = apiServer()
  api.put(services, makeSeen().service)
  const stored = () => api.stored(services)
  const [controller] = balancerControllers({
    client: api.client,
    caches: { services: { get: () => stored()[0], list: stored, onChange() {} }, nodes: { onChange() {} } },
    ledger: { heartbeats: { state: () => state } },
    want: () => ({ kind: 'managed', location: 'da', warnings: [] }),
    events: { of: () => ({ record() {} }) },
    vendor: { ...vendor, managedBalancers: { ...vendor.managedBalancers, client } },
    settings,
    cluster: 'cluster-1',
  } as unknown as Parameters<typeof balancerControllers>[0])
  const result = await controller?.reconciler.reconcile('default/web', signal).catch(String)
  return { asked, result }
}

test('while another cluster has the id of this cluster, the balancers are not even read', async () => {
  const { asked, result } = await reconciled({ kind: 'foreign', reason: 'another cluster uses our id' })
  assert.match(JSON.stringify(result), 'no load balancer is changed: another cluster uses our id')
  assert.equal(asked, [])
})

test('until a leader has looked for another cluster, the balancers are not read, and the key comes back', async () => {
  const { asked, result } = await reconciled({ kind: 'unchecked' })
  assert.equal([asked, result], [[], { againInMs: 200 }])
})

for (const kind of ['waiting', 'ours'] as const)
  test(`while the heartbeats of this cluster are ${kind}, Services get their balancers`, async () =>
    assert.ok((await reconciled({ kind })).asked.includes('list')))

test('a Service is served where the setting gives it a balancer', () => {
  const { controller } = declared({ METAL_LOAD_BALANCER: 'emlb:///da' })
  assert.equal([...controller.keys()], ['default/web'])
})

test('a node concerns the balancers when its address changes, and not when its kubelet reports again', () => {
  const { controller, listeners } = declared({ METAL_LOAD_BALANCER: 'emlb:///da' })
  const due: string[] = []
  for (const watch of controller.watches ?? []) watch((key) => due.push(key))
  const node = (address: string, resourceVersion: string): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a', resourceVersion },
    spec: {},
    status: { addresses: [{ type: 'ExternalIP', address }] },
  })
  const change = (current: Node, previous: Node) => {
    for (const listener of listeners) listener('a', current, previous)
    return due.splice(0)
  }
  assert.equal(change(node('192.0.2.1', '2'), node('192.0.2.1', '1')), [])
  assert.equal(change(node('192.0.2.2', '3'), node('192.0.2.1', '2')), ['default/web'])
})

test.run()
