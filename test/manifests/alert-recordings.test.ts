// Each alert fires on what real processes showed, and no other one does.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { alertRecordings, endOf, ruleMetrics } from './alert-recordings.ts'
import { unknownNames } from './catalogue-names.ts'
import { namedIn } from './expressions.ts'
import { testAlerts } from './promtool.ts'

const recordings = Object.entries(alertRecordings())
const command = 'make the recordings again: `make alert-recordings`'

test('each recording fires its alerts and no other', async () => {
  assert.ok(recordings.length > 0)
  const { code, output } = await testAlerts(
    recordings.map(([name, recording]) => ({ ...recording, name, until: endOf(recording) })),
  )
  assert.is(code, 0, output)
})

test('each recording has only metrics and labels of the catalogue', () => {
  for (const [name, { series }] of recordings) {
    const unknown = new Set(Object.keys(series).flatMap(unknownNames))
    assert.equal([...unknown], [], `${name}: no process shows this any more; ${command}`)
  }
})

/** No scenario reads settings from a file or moves the control-plane address. */
const notRecorded = ['eip_admission_control_plane_moves_total', 'eip_admission_settings_last_reload_successful']

test('each other metric of a rule is in a recording', () => {
  const recorded = new Set(
    recordings.flatMap(([, { series }]) => Object.keys(series).flatMap((one) => namedIn(one).metrics)),
  )
  const missing = [...ruleMetrics].filter((metric) => !recorded.has(metric))
  assert.equal(missing.toSorted(), notRecorded, `not recorded; ${command}`)
})

test.run()
