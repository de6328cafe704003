// The recording that tests of alerts rely on: it loses nothing, and shifts the times that the process shows.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { record } from './recording.ts'

const target = 'namespace="eip-admission",job="eip-admission-metrics",instance="a"'
const leader = 'eip_admission_leader'
const calls = 'eip_admission_cloud_call_duration_seconds_count'
const begin = () => record(30)

test('each sample is kept at its place, and what ends is stale at once', () => {
  const recording = begin()
  recording.add({ a: `# HELP ${leader} text\n${leader} 1\n` }, 0)
  recording.add({ a: `${leader} 1\n${calls}{call="list"} 2\n` }, 100)
  recording.add({ a: `${leader} 1\n${calls}{call="list"} 3\n` }, 200)
  recording.add({ a: `${calls}{call="list"} 3\n` }, 300)
  recording.add({}, 400)
  recording.add({}, 500)
  recording.add({ a: `${leader} 2\n` }, 600)
  assert.is(recording.length, 7)
  assert.equal(recording.series(), {
    [`${leader}{${target}}`]: '1x2 stale _x2 2',
    [`${calls}{${target},call="list"}`]: '_ 2 3x1 stale _x2',
  })
})

test('labels may hold commas and braces, and values exponents', () => {
  const recording = begin()
  recording.add({ a: `${calls}{le="+Inf",text="a, {b} \\" c"} 1.5e-7\n${leader} 1.7e+9\n` }, 0)
  assert.equal(recording.series(), {
    [`${calls}{${target},le="+Inf",text="a, {b} \\" c"}`]: '0',
    [`${leader}{${target}}`]: '1700000000',
  })
})

test('what no rule uses is left out', () => {
  const recording = begin()
  recording.add({ a: 'workqueue_adds_total 3\nup 1\n' }, 0)
  assert.equal(recording.series(), {})
})

/** The values of one metric that was scraped at these times, in seconds. */
function valuesOf(metric: string, shown: [atS: number, value: number][]): string | undefined {
  const recording = begin()
  for (const [atS, value] of shown) recording.add({ a: `${metric} ${value}\n` }, atS * 1000)
  return recording.series()[`${metric}{${target}}`]
}

test('a moment between two scrapes is between them in the series, and stays the same moment', () => {
  const sweep = 'eip_admission_last_sweep_timestamp_seconds'
  assert.is(valuesOf(sweep, [[50, 50], [52, 51.6], [54, 51.6], [60, 59]]), '0 24x1 85') // prettier-ignore
  assert.is(valuesOf('process_start_time_seconds', [[50, 40], [52, 40]]), '-10x1') // prettier-ignore
})

test('an age counts the intervals since then, and 0 stays 0', () => {
  const pending = 'eip_admission_oldest_pending_seconds'
  assert.is(valuesOf(pending, [[50, 0], [52, 1], [54, 3], [56, 0]]), '0 15 45 0') // prettier-ignore
})

test('a certificate ends as long after the scrape as it really does', () => {
  const end = 'eip_admission_cert_not_after_timestamp_seconds'
  assert.is(valuesOf(end, [[50, 3_650], [52, 3_650]]), '3600 3628') // prettier-ignore
})

test('other seconds stay as the process showed them', () => {
  assert.is(valuesOf('eip_admission_watch_silent_seconds', [[50, 0], [52, 2]]), '0 2') // prettier-ignore
})

test.run()
