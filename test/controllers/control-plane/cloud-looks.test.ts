import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cloudLooks, cloudSight } from '../../../controllers/control-plane/cloud-looks.ts'
import type { KnownAddress } from '../../../controllers/control-plane/known-address.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

const { signal } = new AbortController()

/** How often the cloud is read after its first list, when what we know has this age. */
async function reads(failuresLeft: number, ageMs: number): Promise<number> {
  const clock = fakeClock()
  let [count, age] = [0, Infinity]
  const known: Pick<KnownAddress, 'ageMs' | 'find' | 'look' | 'problem'> = {
    ageMs: () => age,
    find: async () => void (count += 1),
    look: async () => void (count += 1),
    problem: () => undefined,
  }
  const looks = cloudLooks({
    known: known as KnownAddress,
    readIntervalMs: 60_000,
    failuresLeft: () => failuresLeft,
    sight: cloudSight(() => clock.now()),
    clock,
  })
  await looks.look(signal)
  age = 0
  await looks.look(signal)
  count = 0
  age = ageMs
  await looks.look(signal)
  return count
}

const rows: [what: string, failuresLeft: number, ageMs: number, reads: number][] = [
  ['while nothing fails', Infinity, 59_000, 0],
  ['while nothing fails, after the interval', Infinity, 61_000, 1],
  ['two failures before a move', 2, 59_000, 0],
  ['one failure before a move, a moment after a read', 1, 900, 0],
  ['one failure before a move', 1, 1_100, 1],
  ['while it cannot move', 0, 4_900, 0],
  ['while it cannot move, for a while', 0, 5_100, 1],
]
for (const [what, failuresLeft, ageMs, expected] of rows)
  test(`the provider is ${expected === 0 ? 'not read' : 'read'} ${what}`, async () => {
    assert.is(await reads(failuresLeft, ageMs), expected)
  })

test('a read that the end of a term cuts off is no failure, and the next term reads at once', async () => {
  const clock = fakeClock()
  let count = 0
  const known: Pick<KnownAddress, 'ageMs' | 'look'> = {
    ageMs: () => Infinity,
    look: async (ends) => {
      count += 1
      ends.throwIfAborted()
    },
  }
  const looks = cloudLooks({
    known: known as KnownAddress,
    readIntervalMs: 60_000,
    failuresLeft: () => Infinity,
    sight: cloudSight(() => clock.now()),
    clock,
  })
  assert.is(await looks.look(AbortSignal.abort()), undefined)
  assert.is(await looks.look(signal), undefined)
  assert.is(count, 2)
})

test.run()
