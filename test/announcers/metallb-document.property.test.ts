import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { metallbDocument } from '../../announcers/metallb/document.ts'
import { runs } from '../property-runs.ts'
import { objectionsTo } from './document-rules.ts'
import { leftDocument, written } from './documents.ts'
import { reordered, states } from './states.ts'

const configuration = metallbDocument({
  namespace: 'metallb-system',
  name: 'config',
  counting: 'nomatch.metal.equinix.com',
})
const edit = (...given: Parameters<typeof configuration.edit>) => configuration.edit(...given).document
const nothing = { addresses: [], nodes: [] }

/** The documents as another tool would write them: what they say is kept, their layout cannot be. */
const inJson = written.map((document) => JSON.stringify(parse(document, { version: '1.1' }) ?? {}))

/** The content of a document without its empty lists. */
function says(document: string): object {
  const all: object = parse(document, { version: '1.1', merge: true }) ?? {}
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && String(value) !== ''))
}

/** The comments that a person wrote. */
function commentsIn(document: string): string[] {
  return [...document.matchAll(/# [a-z, -]+$/gm)].map(([comment]) => comment).toSorted()
}

test('MetalLB accepts the edited document for every state and every document before', () => {
  fc.assert(
    fc.property(fc.oneof(written, inJson, fc.constant(leftDocument)), states, states, (document, before, after) => {
      assert.equal(objectionsTo(document), [])
      const once = edit(document, before)
      assert.equal(objectionsTo(once), [], once)
      const twice = edit(once, after)
      assert.equal(objectionsTo(twice), [], twice)
    }),
    runs(60),
  )
})

test('a document that needs no change stays the same, byte for byte', () => {
  fc.assert(
    fc.property(fc.oneof(written, inJson, fc.constant(leftDocument)), states, (document, state) => {
      const once = edit(document, state)
      assert.is(edit(once, state), once)
    }),
    runs(60),
  )
})

test('every comment of a person stays, and the values outside our items stay', () => {
  fc.assert(
    fc.property(written, states, states, (document, before, after) => {
      const edited = edit(edit(document, before), after)
      assert.equal(commentsIn(edited), commentsIn(document), edited)
      assert.equal(says(edit(edited, nothing)), says(document))
    }),
    runs(60),
  )
})

test('a document in flow style keeps its values', () => {
  fc.assert(
    fc.property(inJson, states, (document, state) =>
      assert.equal(says(edit(edit(document, state), nothing)), says(document)),
    ),
    runs(60),
  )
})

test('the order of the state changes nothing', () => {
  const pairs = states.chain((state) => fc.tuple(written, fc.constant(state), reordered(state)))
  fc.assert(
    fc.property(pairs, ([document, state, other]) => {
      assert.equal(configuration.edit(document, other), configuration.edit(document, state))
    }),
    runs(60),
  )
})

test('the document shows which addresses are announced, and no item of a predecessor stays after the last Service', () => {
  assert.is(configuration.hasAddress(leftDocument, '198.51.100.9'), true)
  assert.is(configuration.hasAddress(leftDocument, '198.51.100.8'), false)
  assert.equal(says(edit(leftDocument, nothing)), {})
})

test.run()
