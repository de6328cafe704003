import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { defineController, controllerObserver } from '../../controllers/loop/controller.ts'
import { Terminal } from '../../controllers/loop/reconciler.ts'
import { makeActivity } from '../../telemetry/activity.ts'
import { makeMetrics } from '../../telemetry/metrics/metrics.ts'
import { silentLog } from '../fakes/log.ts'
import { fakeClock } from '../kube/fake-clock.ts'

test('reconciles are counted by their results, and the keys that wait, that are added and that are retried', async () => {
  const metrics = makeMetrics()
  const clock = fakeClock()
  let unfinished = ''
  const ends: Record<string, Error | undefined> = { fails: new Error('down'), wrong: new Terminal('wrong location') }
  const controller = defineController(
    {
      reconciler: {
        name: 'service-address',
        async reconcile(key) {
          unfinished = await metrics.text()
          const error = ends[key]
          delete ends[key]
          if (error) throw error
          return {}
        },
      },
      keys: () => ['well', 'fails', 'wrong'],
      retry: { firstMs: 1_000 },
    },
    { log: silentLog, observer: controllerObserver(metrics, makeActivity()), clock },
  )
  const stop = new AbortController()
  const running = controller.run(stop.signal)
  await clock.pass(1_000)
  stop.abort()
  await running
  const lines = (await metrics.text()).split('\n')
  for (const line of [
    ...Object.entries({ ok: 2, error: 1, terminal: 1 }).map(
      ([result, count]) =>
        `eip_admission_reconcile_duration_seconds_count{controller="service-address",result="${result}"} ${count}`,
    ),
    'workqueue_adds_total{name="service-address"} 4',
    'workqueue_retries_total{name="service-address"} 1',
    'workqueue_queue_duration_seconds_count{name="service-address"} 4',
    'workqueue_work_duration_seconds_count{name="service-address"} 4',
    'workqueue_unfinished_work_seconds{name="service-address"} 0',
  ])
    assert.ok(lines.includes(line), line)
  assert.match(unfinished, /^workqueue_unfinished_work_seconds\{name="service-address"\} (0\.\d*[1-9]|\d+e-)/m)
})

test.run()
