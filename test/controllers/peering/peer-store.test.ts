import { gunzipSync, gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { peerFacts } from '../../../controllers/facts/peer-facts.ts'
import { peerStoreKey, peerStore } from '../../../controllers/peering/peer-store.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { KubeObject, Secret } from '../../../kube/objects.ts'
import { makeFact, makePeer, password } from './builders.ts'

const { signal } = new AbortController()
const at = { namespace: 'eip-admission', name: 'eip-admission-peers' }
const secret = makeFact({ peers: [makePeer({ password: password('Secret12345') })] })

/** The Secret of a cluster, and a process whenever one starts. */
function makeCluster() {
  const stored: { secret?: Secret } = {}
  const writes: string[] = []
  const client: Pick<KubeClient, 'get' | 'apply'> = {
    get: async <T extends KubeObject>() => stored.secret as KubeObject as T | undefined,
    async apply<T extends KubeObject>(_resource: unknown, object: KubeObject) {
      writes.push(object.metadata.name)
      stored.secret = object as Secret
      return object as T
    },
  }
  return {
    stored,
    writes,
    start: () => {
      const facts = peerFacts()
      const said: string[] = []
      const log = { debug() {}, info() {}, error() {}, warn: (_: object, message: string) => void said.push(message) }
      const store = peerStore({ client, facts, at, log })
      return {
        facts,
        said,
        load: () => store.load(signal),
        clear: () => store.clear(signal),
        store: () => store.reconcile(peerStoreKey, signal),
      }
    },
  }
}

test('stored facts are known after a restart, passwords included', async () => {
  const cluster = makeCluster()
  const { facts, store, load } = cluster.start()
  assert.is(await load(), false)
  facts.set(secret)
  await store()
  const next = cluster.start()
  assert.is(await next.load(), true)
  assert.is(next.facts.text(), facts.text())
  assert.equal(next.said, [])
})

test('facts are written only if they changed, in this process or the previous one', async () => {
  const cluster = makeCluster()
  const { facts, store } = cluster.start()
  facts.set(makeFact())
  await store()
  await store()
  assert.is(cluster.writes.length, 1)
  const next = cluster.start()
  await next.load()
  await next.store()
  assert.is(cluster.writes.length, 1)
  next.facts.set(makeFact({ peers: [] }))
  await next.store()
  assert.is(cluster.writes.length, 2)
})

const damages: Record<string, NonNullable<Secret['data']>> = {
  'that is no base64 of gzip': { 'peers.json.gz': 'AAAA' },
  'that is cut short': { 'peers.json.gz': gzipSync('[]'.padEnd(500)).toString('base64').slice(0, 20) },
  'with half a fact': { 'peers.json.gz': gzipSync('[{"node":"worker-1"}]').toString('base64') },
}
for (const [what, data] of Object.entries(damages)) {
  test(`a Secret ${what} is reported, and made again`, async () => {
    const cluster = makeCluster()
    cluster.stored.secret = { apiVersion: 'v1', kind: 'Secret', metadata: at, data }
    const { facts, store, load, said } = cluster.start()
    assert.is(await load(), false)
    assert.equal([said.length, facts.all()], [1, []])
    await store()
    assert.equal([cluster.writes.length, await cluster.start().load()], [1, true])
  })
}

test('stored facts are cleared with the password when BGP is off; the next start with BGP reads the provider', async () => {
  const cluster = makeCluster()
  const { facts, store, clear } = cluster.start()
  await clear()
  assert.equal(cluster.writes, [], 'there was nothing')
  facts.set(secret)
  await store()
  for (const _ of [1, 2]) await cluster.start().clear()
  assert.equal([cluster.writes.length, cluster.stored.secret?.data], [2, {}])
  const next = cluster.start()
  assert.equal([await next.load(), next.said], [false, []])
})

test('the facts about five thousand nodes fit', async () => {
  const { start, stored } = makeCluster()
  const { facts, store } = start()
  for (let n = 0; n < 5_000; n += 1) {
    const node = `worker-${n}.rack-${n % 40}.example.com`
    const machine = crypto.randomUUID()
    const peers = ['1', '2'].map((last) =>
      makePeer({
        peerAddress: `169.254.255.${last}`,
        sourceAddress: `10.${n >> 8}.${n & 255}.3`,
        password: password('Secret12345'),
      }),
    )
    facts.set(makeFact({ node, hostname: node, machine, peers }))
  }
  await store()
  const packed = stored.secret?.data?.['peers.json.gz'] ?? ''
  assert.is(gunzipSync(Buffer.from(packed, 'base64')).toString(), facts.text())
  assert.ok(packed.length < 700_000, `${packed.length} bytes`)
})

test.run()
