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

test.run()
