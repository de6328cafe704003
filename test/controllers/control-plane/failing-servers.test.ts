import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { GuardedNode } from '../../../controllers/control-plane/control-plane-nodes.ts'
import { failingServers } from '../../../controllers/control-plane/failing-servers.ts'
import { type ProbeHistory, noProbes } from '../../../controllers/moves/probe-history.ts'

const good = { ...noProbes, successes: 10 }
const failed = (failures: number, formerSuccesses = 10) => ({ ...noProbes, failures, formerSuccesses })

const nodeWith = (probes: ProbeHistory): GuardedNode => ({
  name: 'control-1',
  machine: '1',
  leaving: 0,
  endpoint: { address: '10.0.0.1', port: 6443 },
  probes,
})

const rows: [what: string, looks: ProbeHistory[], fails: boolean[]][] = [
  ['was never probed', [noProbes], [false]],
  ['fails three times', [good, failed(2), failed(3)], [false, false, true]],
  ['answered by turns before it failed', [failed(3, 2), failed(6, 2)], [false, true]],
  [
    'answers again',
    [failed(3), { ...noProbes, successes: 1 }, { ...noProbes, successes: 9 }, good],
    [true, true, true, false],
  ],
]
for (const [what, looks, fails] of rows)
  test(`an API server that ${what}`, () => {
    const failing = failingServers({ failures: 3, successes: 10 })
    let changes = 0
    failing.onChange(() => (changes += 1))
    const seen = looks.map((probes) => {
      failing.look([nodeWith(probes)])
      return failing.has('10.0.0.1')
    })
    assert.equal(seen, fails)
    assert.is(changes, seen.filter((now, at) => now !== (seen[at - 1] ?? false)).length)
  })

test.run()
