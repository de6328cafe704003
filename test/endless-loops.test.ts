// A loop that loses its pause takes a processor, or uses up the provider's rate limit. So loops belong in
// lib/repeat.ts, whose pace is tested. Each other loop is named here, with the reason why it ends or pauses.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const root = join(import.meta.dirname, '..')
const rooms =
  '{announcers,certs,clouds,commands,controllers,inspect,kube,kubectl-eip,ledger,lib,server,settings,status-page,telemetry,webhooks}'

/** The number of loops that each file may have, and the test that notices a lost pause. */
const others: Record<string, [count: number, why: string]> = {
  'lib/repeat.ts': [1, 'lib/repeat.test.ts'],
  'kube/list-watch.ts': [1, 'kube/reflector.test.ts: no pause after a watch that lasted'],
  'kube/reflector.ts': [1, 'waits for an event'],
  'controllers/moves/probers.ts': [
    1,
    'controllers/control-plane/guardian.test.ts: a probe that refuses ends its pause',
  ],
  'controllers/control-plane/lead-loop.ts': [1, 'controllers/control-plane/guardian.test.ts: a wake-up ends its pause'],
  'ledger/available/claim-source.ts': [1, 'ends with the last candidate'],
  'clouds/scaleway/assignments.ts': [1, 'clouds/scaleway: ends after 20 seconds'],
  'commands/takeover/steps.ts': [1, 'commands/takeover: ends with its patience'],
  'commands/takeover/lock.ts': [1, 'commands/takeover/lock.test.ts: ends with the lease of the other run'],
  'kubectl-eip/io.ts': [1, 'ends after a time'],
}

/** Loops without an end, or that only an abort ends. */
const loop = /\bfor \(;;\)|\bwhile \((true|!)/g

test('the only endless loop is in lib/repeat.ts, and every other one says why', () => {
  const found = globSync(`${rooms}/**/*.ts`, { cwd: root }).flatMap((file) => {
    const count = [...readFileSync(join(root, file), 'utf8').matchAll(loop)].length
    return count === 0 ? [] : [[file, count] as const]
  })
  const allowed = Object.entries(others).map(([file, [count]]) => [file, count] as const)
  assert.equal(Object.fromEntries(found), Object.fromEntries(allowed))
})

test.run()
