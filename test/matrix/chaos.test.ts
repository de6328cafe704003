// A short walk of `make chaos` with a fixed seed. In one dialect promtool evaluates what the processes showed meanwhile.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { alertGroups } from '../../telemetry/alerts/alerts.ts'
import { alertViolations } from '../chaos/alerts.ts'
import { explained } from '../chaos/troubles.ts'
import { walk } from '../chaos/walk.ts'
import { dialect } from './dialect.ts'

test('after 150 random steps no address is lost, none has two holders, and no alert is false', async () => {
  const alerts = dialect.name === 'equinix-metal'
  const { steps, violations } = await walk({ dialect: dialect.name, seed: 3, steps: 150, alerts })
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
