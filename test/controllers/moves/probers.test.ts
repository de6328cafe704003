import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { probers } from '../../../controllers/moves/probers.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

test('probes that never end are four at once, and no more', async () => {
  const clock = fakeClock()
  let begun = 0
  const all = probers({
    probe: () => {
      begun += 1
      return new Promise(() => {})
    },
    intervalMs: 1_000,
    goodAfter: 3,
    timeoutMs: 3_000,
    clock,
    onOutcome: () => {},
  })
  all.target(new Map([['a', { address: '10.0.0.2', port: 6443 }]]))
  await clock.pass(20_000)
  all.stop()
  assert.is(begun, 4)
})

test('a change of the targets after the end begins no probe', async () => {
  const clock = fakeClock()
  let begun = 0
  const all = probers({
    probe: async () => {
      begun += 1
      return { isWell: true }
    },
    intervalMs: 1_000,
    goodAfter: 3,
    timeoutMs: 3_000,
    clock,
    onOutcome: () => {},
  })
  const targets = new Map([['a', { address: '10.0.0.2', port: 6443 }]])
  all.target(targets)
  await clock.pass(500)
  all.stop()
  const before = begun
  all.target(targets)
  await clock.pass(5_000)
  assert.is(begun, before)
})

test.run()
