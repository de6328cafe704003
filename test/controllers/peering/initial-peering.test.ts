import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError, type Fault } from '../../../clouds/ports/cloud.ts'
import { initialPeering } from '../../../controllers/peering/declaration.ts'
import { peerFacts } from '../../../controllers/facts/peer-facts.ts'
import { makeFact } from './builders.ts'

const { signal } = new AbortController()

/** The end of a look at each node: the cloud knows its peers, there is nothing to ask, or it fails. */
type Ends = Record<string, 'peers' | 'nothing' | Fault | Error>

function makePeering(ends: Ends, names = Object.keys(ends)) {
  const now = { ends, isReady: false }
  const facts = { ...peerFacts(), markComplete: () => void (now.isReady = true) }
  const initial = initialPeering({
    facts,
    reconciler: {
      name: 'node-peering',
      async reconcile(node) {
        const end = now.ends[node] ?? 'nothing'
        if (end instanceof Error) throw end
        if (end === 'peers') facts.set(makeFact({ node }))
        else if (end !== 'nothing') throw new CloudError(end, { fault: end, outcome: 'nothing' })
        return {}
      },
    },
  })
  initial.begin(names)
  return {
    facts,
    isReady: () => now.isReady,
    look: async (more: Ends = {}) => {
      now.ends = { ...now.ends, ...more }
      for (const name of Object.keys(now.ends)) await initial.reconcile(name, signal).catch(() => {})
      return now.isReady
    },
  }
}

const cases: { name: string; ends: Ends; isReady: boolean }[] = [
  { name: 'every node was answered for', ends: { a: 'peers', b: 'peers' }, isReady: true },
  { name: 'there was nothing to ask', ends: { a: 'nothing' }, isReady: true },
  { name: 'some take no part', ends: { a: 'peers', b: 'nothing' }, isReady: true },
  { name: 'the provider is broken for one', ends: { a: 'peers', b: 'unavailable' }, isReady: false },
  { name: 'the provider has enough of us', ends: { a: 'peers', b: 'rate-limit' }, isReady: false },
  { name: 'the provider refuses all', ends: { a: 'auth', b: 'auth' }, isReady: false },
  { name: 'the provider does not know any', ends: { a: 'invalid', b: 'invalid' }, isReady: false },
  { name: 'the provider refuses one of several', ends: { a: 'peers', b: 'invalid' }, isReady: true },
  { name: 'the provider refuses the first of several', ends: { a: 'auth', b: 'peers' }, isReady: true },
  { name: 'the API server fails', ends: { a: 'peers', b: new Error('no') }, isReady: false },
]
for (const { name, ends, isReady } of cases)
  test(`${name}: the facts are ${isReady ? '' : 'not '}ready`, async () =>
    assert.is(await makePeering(ends).look(), isReady))

test('a cluster without nodes has nothing to wait for', () => assert.ok(makePeering({}, []).isReady()))

test('the facts wait for a provider that recovers', async () => {
  const { look } = makePeering({ a: 'unavailable', b: 'auth' })
  assert.is(await look(), false)
  assert.is(await look({ b: 'peers' }), false)
  assert.is(await look({ a: 'peers' }), true)
})

test('peers that are known but could not be written on the node count', async () => {
  const { facts, look } = makePeering({ a: new Error('the API server is busy') })
  facts.set(makeFact({ node: 'a' }))
  assert.is(await look(), true)
})

test('the facts do not wait for a node that registered later', async () => {
  const { look } = makePeering({ a: 'peers' })
  assert.is(await look({ late: 'unavailable' }), true)
})

test.run()
