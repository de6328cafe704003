import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repeat, repeatLater } from '../../lib/repeat.ts'
import { fakeClock } from '../kube/fake-clock.ts'

type Loop = typeof repeat

/** Runs a loop for a minute; returns the seconds at which its rounds began. A loop without a pause is ended. */
async function rounds(loop: Loop, work: (round: number) => ReturnType<Parameters<Loop>[0]> = () => undefined) {
  const clock = fakeClock()
  const [beganMs, stop] = [clock.now(), new AbortController()]
  const seconds: number[] = []
  const running = loop(
    async () => {
      seconds.push((clock.now() - beganMs) / 1000)
      if (seconds.length > 20) stop.abort()
      return work(seconds.length)
    },
    { everyMs: 20_000, signal: stop.signal, clock },
  )
  await clock.pass(60_000)
  stop.abort()
  await running
  await clock.pass(60_000)
  return seconds
}

test('a loop works at once, then at its pace, until it is stopped', async () => {
  assert.equal(await rounds(repeat), [0, 20, 40, 60])
})

test('a loop that begins later pauses first', async () => {
  assert.equal(await rounds(repeatLater), [20, 40, 60])
})

test('a round may choose the pause after it', async () => {
  assert.equal(await rounds(repeat, (round) => (round === 1 ? 5_000 : undefined)), [0, 5, 25, 45])
  assert.equal(await rounds(repeatLater, (round) => (round === 1 ? 5_000 : undefined)), [20, 25, 45])
})

test('a round may be the last one', async () => {
  assert.equal(await rounds(repeat, (round) => (round === 2 ? 'over' : undefined)), [0, 20])
  assert.equal(await rounds(repeatLater, () => 'over'), [20])
})

for (const loop of [repeat, repeatLater])
  test(`${loop.name} without a clock of its own pauses by the timers of the machine, which the signal ends`, async () => {
    const stop = new AbortController()
    let count = 0
    const work = () => {
      count += 1
      if (count > 1) stop.abort()
    }
    await loop(work, { everyMs: 1, signal: stop.signal })
    assert.is(count, 2)
    await loop(work, { everyMs: 1, signal: AbortSignal.abort() })
    assert.is(count, 2)
  })

test.run()
