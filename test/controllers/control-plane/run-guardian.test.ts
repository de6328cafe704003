import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { makeWatchdog } from '../../../controllers/control-plane/watchdog.ts'
import type { Parts } from '../../../controllers/control-plane/guardians.ts'
import { runGuardian } from '../../../controllers/control-plane/control-plane-guardian.ts'
import { fakeClock } from '../../kube/fake-clock.ts'
import { recordedLog } from '../../kube/recorded-log.ts'

const ignore = () => undefined

test('a process whose guardian leads and turns no more ends at once', async () => {
  const clock = fakeClock()
  const ending = new AbortController()
  const ends: string[] = []
  const watchdog = makeWatchdog(clock)
  const parts = {
    base: { endAtOnce: (reason: string) => void ends.push(reason) },
    caches: { start: ignore, onChange: ignore, synced: async () => undefined },
    known: { find: async () => undefined, current: ignore },
    targets: { refresh: ignore, stop: ignore },
    watchdog,
    signal: ending.signal,
  } as unknown as Parts
  const hanging = Promise.withResolvers<void>()
  const run = () => {
    watchdog.turn()
    return hanging.promise
  }
  const running = runGuardian(parts, { run })
  try {
    await clock.pass(55_000)
    assert.equal(ends, [])
    await clock.pass(10_000)
    assert.match(ends.join(), /^the guardian's loop has stalled for 6\d s$/)
  } finally {
    ending.abort()
    hanging.resolve()
    await running
  }
})

test('a guardian that cannot read the address reports it, asks again, and leads as soon as it knows it', async () => {
  const ending = new AbortController()
  const log = recordedLog()
  const leads = Promise.withResolvers<void>()
  let asked = 0
  const parts = {
    base: { endAtOnce: ignore, log },
    caches: { start: ignore, onChange: ignore, synced: async () => undefined },
    known: {
      current: ignore,
      find: async () => {
        asked += 1
        if (asked === 1) throw new Error('the provider is down')
      },
    },
    targets: { refresh: ignore, stop: ignore },
    watchdog: makeWatchdog(fakeClock()),
    signal: ending.signal,
  } as unknown as Parts
  const run = async () => leads.resolve()
  const running = runGuardian(parts, { run })
  await leads.promise
  ending.abort()
  await running
  assert.is(asked, 2)
  assert.equal(
    log.lines.map(({ fields, message }) => [fields['error'], message]),
    [['the provider is down', 'waiting for the provider']],
  )
})

test.run()
