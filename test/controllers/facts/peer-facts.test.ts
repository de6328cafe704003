import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseFacts } from '../../../controllers/facts/fact-text.ts'
import { peerFacts } from '../../../controllers/facts/peer-facts.ts'
import { makeFact, makePeer, password, twoPeers } from '../peering/builders.ts'

const secret = makeFact({ peers: [makePeer({ password: password('Secret12345') })] })

function heardFacts() {
  const facts = peerFacts()
  const heard = { times: 0 }
  facts.onChange(() => (heard.times += 1))
  return { facts, heard }
}

test('a change is reported, and a repetition is not', () => {
  const { facts, heard } = heardFacts()
  facts.set(makeFact())
  facts.set(makeFact())
  assert.is(heard.times, 1)
  facts.set(makeFact({ hostname: 'rack-7' }))
  facts.set(makeFact({ hostname: 'rack-7', peers: [] }))
  assert.is(heard.times, 3)
  facts.remove('worker-1')
  facts.remove('worker-1')
  assert.equal([heard.times, facts.all()], [4, []])
})

test('another password alone is a change', () => {
  const { facts, heard } = heardFacts()
  facts.set(secret)
  facts.set(makeFact({ peers: [makePeer({ password: password('Secret12345') })] }))
  assert.is(heard.times, 1)
  facts.set(makeFact({ peers: [makePeer({ password: password('Secret54321') })] }))
  assert.equal([heard.times, facts.get('worker-1')?.peers[0]?.password?.reveal()], [2, 'Secret54321'])
})

test('the same facts make the same text, in whatever order they came', () => {
  const [one, other] = [peerFacts(), peerFacts()]
  const nodes = ['a', 'b', 'a.b', 'a-b'].map((node) => makeFact({ node }))
  for (const fact of nodes) one.set(fact)
  for (const fact of nodes.toReversed()) other.set(fact)
  assert.is(one.text(), other.text())
})

test('the text says all that is known, and what was read from it is the same again', () => {
  const facts = peerFacts()
  for (const fact of [secret, makeFact({ node: 'worker-2', privateNetwork: undefined, peers: twoPeers })])
    facts.set(fact)
  const again = peerFacts()
  again.restore(parseFacts(facts.text()) ?? [])
  assert.is(again.text(), facts.text())
  assert.is(again.get('worker-1')?.peers[0]?.password?.reveal(), 'Secret12345')
})

test('what is known already goes before what was kept', () => {
  const facts = peerFacts()
  facts.set(makeFact({ peers: [] }))
  facts.restore([makeFact(), makeFact({ node: 'worker-2' })])
  assert.equal(
    facts.all().map(({ peers }) => peers.length),
    [0, 2],
  )
})

test('no password of what was read shows when it is printed', () => {
  const facts = peerFacts()
  facts.set(secret)
  const [fact] = parseFacts(facts.text()) ?? []
  for (const printed of [JSON.stringify(fact), inspect(fact, { depth: 9, showHidden: true })])
    assert.not(printed.includes('Secret12345'))
})

const whole = JSON.parse(JSON.stringify([makeFact()])) as Record<string, unknown>[]
const [fact = {}] = whole
const damages: Record<string, string> = {
  'an empty text': '',
  'no JSON': '[{',
  'no list': '{}',
  'a list of something else': '[1]',
  'a fact without a node': JSON.stringify([{ ...fact, node: undefined }]),
  'a fact without a hostname': JSON.stringify([{ ...fact, hostname: 1 }]),
  'a fact without a machine': JSON.stringify([{ ...fact, machine: null }]),
  'a fact without peers': JSON.stringify([{ ...fact, peers: {} }]),
  'half a peer': JSON.stringify([{ ...fact, peers: [{ ...twoPeers[0], peerAsn: '65530' }] }]),
  'a peer without an address': JSON.stringify([{ ...fact, peers: [{ ...twoPeers[0], peerAddress: undefined }] }]),
  'a whole fact beside half of one': JSON.stringify([fact, { ...fact, peers: [{}] }]),
}
for (const [what, text] of Object.entries(damages))
  test(`${what} is not taken for facts`, () => assert.is(parseFacts(text), undefined))

test('anyone who waits for the facts waits until they are ready, and no longer than it wants to', async () => {
  const facts = peerFacts()
  const synced: string[] = []
  const wait = (who: string) => facts.synced().then(() => void synced.push(who))
  const first = wait('first')
  const cancel = new AbortController()
  const cancelled = facts.synced(cancel.signal).catch((error: Error) => error.name)
  await turn()
  assert.equal(synced, [])
  cancel.abort()
  assert.is(await cancelled, 'AbortError')
  facts.markComplete()
  await Promise.all([first, wait('second')])
  facts.set(makeFact())
  facts.reset()
  void wait('of the next term')
  await turn()
  assert.equal([synced.toSorted(), facts.all()], [['first', 'second'], []])
})

test.run()
