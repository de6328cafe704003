import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { catalogue } from '../../../telemetry/metrics/catalogue.ts'
import { makeMetrics } from '../../../telemetry/metrics/metrics.ts'
import { readBuild, readProcess } from '../../../telemetry/metrics/process.ts'

/** The lines of a metric, without comments. */
async function linesOf(metrics: ReturnType<typeof makeMetrics>, name: string): Promise<string[]> {
  return (await metrics.text()).split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
}

test('every name, label and unit follows the conventions of Prometheus', () => {
  for (const [name, { type, help, ...row }] of Object.entries(catalogue)) {
    assert.match(name, /^[a-z][a-z0-9_]*$/, name)
    assert.is(name.endsWith('_total'), type === 'counter', name)
    assert.not.match(name, /_(ms|milliseconds|minutes|hours|count|sum|bucket)$/)
    assert.is(type === 'histogram', name.endsWith('_duration_seconds'), name)
    assert.match(help, /^[A-Z].*\.$/, name)
    for (const label of 'labels' in row ? row.labels : []) assert.match(label, /^[a-z][a-z_]*$/, name)
  }
})

test('the product counts or reads every metric of the catalogue', () => {
  const root = join(import.meta.dirname, '..', '..', '..')
  const rooms = ['clouds', 'controllers', 'kube', 'ledger', 'server', 'telemetry', 'webhooks']
  const described = ['telemetry/metrics/catalogue.ts', 'telemetry/alerts/**', 'telemetry/dashboard/**']
  const texts = globSync(`{${rooms.join(',')}}/**/*.ts`, { cwd: root, exclude: described }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  )
  assert.ok(texts.length > 200, `${texts.length} files`)
  const unused = Object.keys(catalogue).filter((name) => !texts.some((text) => text.includes(`'${name}'`)))
  assert.equal(unused, [])
})

test('a counter without labels begins at 0, and adds', async () => {
  const metrics = makeMetrics()
  const name = 'eip_admission_services_without_admission_total'
  assert.equal(await linesOf(metrics, name), [`${name} 0`])
  metrics.add(name, {})
  metrics.add(name, {}, 2)
  assert.equal(await linesOf(metrics, name), [`${name} 3`])
})

test('a gauge is read each time, and left out while it has no value', async () => {
  const metrics = makeMetrics()
  const name = 'eip_admission_webhooks_reached'
  let value: number | undefined
  metrics.read(name, () => value)
  assert.equal(await linesOf(metrics, name), [])
  value = 0
  assert.equal(await linesOf(metrics, name), [`${name} 0`])
  value = undefined
  assert.equal(await linesOf(metrics, name), [])
})

test('samples that are no longer there are not shown, and several places share a metric', async () => {
  const metrics = makeMetrics()
  const name = 'workqueue_depth'
  let queues = ['a', 'b']
  metrics.readEach(name, () => queues.map((queue) => ({ labels: { name: queue }, value: 1 })))
  metrics.readEach(name, () => [{ labels: { name: 'c' }, value: 7 }])
  assert.equal(await linesOf(metrics, name), [`${name}{name="a"} 1`, `${name}{name="b"} 1`, `${name}{name="c"} 7`])
  queues = ['b']
  assert.equal(await linesOf(metrics, name), [`${name}{name="b"} 1`, `${name}{name="c"} 7`])
})

test('buckets end beyond the longest time-out of a call', async () => {
  const metrics = makeMetrics()
  metrics.observe('eip_admission_cloud_call_duration_seconds', { call: 'reserve', result: '201' }, 29_000)
  const text = await metrics.text()
  assert.match(text, 'le="10",call="reserve",result="201"} 0')
  assert.match(text, 'le="30",call="reserve",result="201"} 1')
})

test('the process shows its version, memory, CPU time and event loop', async () => {
  const metrics = makeMetrics()
  readProcess(metrics)
  readBuild(metrics, { version: '1.2.3', cloud: 'Equinix Metal' })
  const [info] = await linesOf(metrics, 'eip_admission_build_info')
  assert.match(info ?? '', /version="1\.2\.3".*cloud="Equinix Metal"\} 1$/)
  for (const name of Object.keys(catalogue).filter((one) => /^(process|nodejs)_/.test(one))) {
    const [line = ''] = await linesOf(metrics, name)
    assert.ok(Number(line.split(' ')[1]) >= 0, `${name}: ${line}`)
  }
})

test.run()
