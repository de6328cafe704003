// A short walk of `make chaos` with a seed for each cloud. On one cloud, promtool evaluates the scraped metrics.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { DialectName } from '../../sandbox/dialects.ts'
import { alertGroups } from '../../telemetry/alerts/rules.ts'
import { alertViolations } from '../chaos/alerts.ts'
import { explained } from '../chaos/troubles.ts'
import { walk } from '../chaos/walk.ts'
import { dialect } from './dialect.ts'

// With an even seed there is a warm pool. Seeds that three divides, with careless people, are left to `make chaos`:
// after two mistakes at once, a person may have to decide.
const seeds: Partial<Record<DialectName, number>> = {
  'equinix-metal': 2,
  'cherry-servers': 5,
  hetzner: 8,
  scaleway: 7,
  phoenixnap: 4,
}

test('after 150 random steps no address is lost, none has two holders, and no alert is false', async () => {
  const alerts = dialect.name === 'equinix-metal'
  const { steps, violations } = await walk({
    dialect: dialect.name,
    seed: seeds[dialect.name] ?? 1,
    steps: 150,
    leg: 50,
    alerts,
  })
  assert.equal(violations, [])
  assert.is(steps, 150)
})

test('an alert that no trouble explains is a violation, as is one that does not end', () => {
  const alerts = { fired: ['EIPAdmissionRestarts', 'EIPAdmissionClusterIdInUse'], atEnd: ['EIPAdmissionRestarts'] }
  assert.equal(alertViolations(alerts, new Set(['killed process'])), [
    'EIPAdmissionClusterIdInUse fired, and nothing explains it',
    'EIPAdmissionRestarts fires or is about to, although all is repaired',
  ])
})

test('a trouble explains only alerts that exist', () => {
  const names = new Set(alertGroups.flatMap(({ alerts }) => alerts.map(({ name }) => name)))
  for (const name of Object.values(explained).flat()) assert.ok(names.has(name), name)
})

test.run()
