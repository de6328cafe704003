// The calls to the cloud for fifty nodes: when they start, at rest, and after a restart of the process.
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { uninitialized } from '../../controllers/nodes/taints.ts'
import type { Node } from '../../kube/objects.ts'
import type { Product } from '../../sandbox/product.ts'
import { eventually, unchanging } from './eventually.ts'
import { once } from './once.ts'
import { openStage } from './test-stage.ts'

const most = 50
const stage = await openStage()
const { devices, calls } = stage.cloud.control
const env = { METAL_METRO_NAME: 'da' }

let product: Product | undefined
async function run(): Promise<void> {
  await product?.stop()
  product = await stage.startSwept({ env })
}

const names = Array.from({ length: most }, (_, n) => `worker-${n}`)
const manifest = (name: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  spec: { taints: [{ key: uninitialized, value: 'true', effect: 'NoSchedule' }] },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})

const nodes = async (): Promise<Node[]> => {
  const { items } = JSON.parse(await stage.run('get', 'nodes', '-o', 'json')) as { items: Node[] }
  return items
}
const count = (method: string) =>
  Object.entries(calls.counts())
    .filter(([route]) => route.startsWith(method))
    .reduce((sum, [, times]) => sum + times, 0)
const annotationsOf = ({ metadata }: Node) => Object.keys(metadata.annotations ?? {})
const settled = () =>
  eventually('every node shows its peers', async () => {
    const all = await nodes()
    return all.every((node) => annotationsOf(node).some((name) => name.endsWith('1-peer-ip'))) || undefined
  })

/** Starts nodes at the same time, which get their peers. */
const startNodes = once(async () => {
  await run()
  for (const hostname of names) devices.add({ hostname })
  calls.clear()
  const fromMs = performance.now()
  const made = await stage.kubectl(['create', '-f', '-'], {
    apiVersion: 'v1',
    kind: 'List',
    items: names.map(manifest),
  })
  assert.is(made.code, 0, made.stderr)
  await settled()
  assert.is(calls.count('POST /devices/{id}/bgp/sessions'), most)
  // The machines and the sessions are listed again after ten seconds.
  const lists = (performance.now() - fromMs) / 5_000
  assert.ok(count('') <= 3 * most + 20 + lists, JSON.stringify(calls.counts()))
})

test(`${most} nodes that come up at once cost at most 3 calls each, and 20 for all of them`, startNodes)

const versions = async () => (await nodes()).map(({ metadata }) => metadata.resourceVersion)

/** The resource versions of the nodes, once nothing writes them and nothing calls the cloud. */
async function atRest() {
  const read = async () => ({ nodes: await versions(), calls: calls.counts() })
  return (await unchanging('the cluster', read)).nodes
}

test('a settled cluster causes no call to the provider and no write', async () => {
  await startNodes()
  const before = await atRest()
  calls.clear()
  await sleep(3000)
  assert.equal(calls.counts(), {})
  assert.equal(await versions(), before)
})

test('a restart in a settled cluster reads each node once, and writes nothing', async () => {
  await startNodes()
  const before = await atRest()
  calls.clear()
  await run()
  await eventually('every node was read', () => calls.count('GET /devices/{id}/bgp/neighbors') >= most || undefined)
  await sleep(2000)
  assert.is(count(''), count('GET'))
  assert.ok(count('GET') <= most + 10, JSON.stringify(calls.counts()))
  assert.equal(await versions(), before)
})

test.after(() => stage.close())

test.run()
