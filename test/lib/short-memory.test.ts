import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { shortMemory } from '../../lib/short-memory.ts'

function memory(keptMs: number) {
  const clock = { ms: 0 }
  return { clock, kept: shortMemory<string, number>({ keptMs, monotonicMs: () => clock.ms }) }
}

test('an entry stays until it is deleted, or was set too long ago', () => {
  const { kept, clock } = memory(100)
  kept.set('a', 1)
  kept.set('b', 2)
  kept.delete('b')
  assert.equal([kept.get('a'), kept.has('a'), kept.get('b'), kept.has('b')], [1, true, undefined, false])
  clock.ms = 99
  kept.set('c', 3)
  assert.is(kept.get('a'), 1)
  clock.ms = 100
  kept.set('d', 4)
  assert.equal([kept.get('a'), kept.get('c'), kept.size], [undefined, 3, 2])
})

test('an entry is forgotten when it is read too late, although nothing was set since', () => {
  const { kept, clock } = memory(100)
  kept.set('a', 1)
  clock.ms = 60
  kept.set('b', 2)
  clock.ms = 99
  assert.equal([kept.get('a'), kept.values()], [1, [1, 2]])
  clock.ms = 100
  assert.equal([kept.has('a'), kept.get('a'), kept.values()], [false, undefined, [2]])
})

test('an entry that is set again is kept longer', () => {
  const { kept, clock } = memory(100)
  kept.set('a', 1)
  kept.set('b', 1)
  clock.ms = 60
  kept.set('a', 2)
  clock.ms = 120
  kept.set('c', 3)
  assert.equal([kept.get('a'), kept.get('b')], [2, undefined])
})

test('a hundred thousand keys replace the previous ones', () => {
  const { kept, clock } = memory(100)
  for (clock.ms = 0; clock.ms < 100_000; clock.ms += 1) kept.set(`key ${clock.ms}`, clock.ms)
  assert.is(kept.size, 100)
})

test.run()
