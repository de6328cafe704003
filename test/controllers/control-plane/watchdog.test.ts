import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Watchdog, makeWatchdog } from '../../../controllers/control-plane/watchdog.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

async function watched(run: (watchdog: Watchdog, clock: ReturnType<typeof fakeClock>) => Promise<void>) {
  const clock = fakeClock()
  const watchdog = makeWatchdog(clock)
  const stalls: number[] = []
  const ending = new AbortController()
  const watching = watchdog.watch(ending.signal, (ms) => void stalls.push(ms))
  await run(watchdog, clock)
  ending.abort()
  await clock.pass(10_000)
  await watching
  return stalls
}

test('a loop that turns does not stall, and one that does not run cannot', async () => {
  const stalls = await watched(async (watchdog, clock) => {
    await clock.pass(300_000)
    watchdog.turn()
    for (let n = 0; n < 20; n++) {
      await clock.pass(30_000)
      watchdog.turn()
    }
    watchdog.end()
    await clock.pass(300_000)
  })
  assert.equal(stalls, [])
})

test('a loop that runs and does not turn is reported once', async () => {
  const stalls = await watched(async (watchdog, clock) => {
    watchdog.turn()
    await clock.pass(50_000)
    watchdog.turn()
    await clock.pass(200_000)
  })
  assert.equal(stalls, [60_000])
})

test.run()
