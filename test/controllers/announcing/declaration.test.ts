import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { announcingController, problemReporter } from '../../../controllers/announcing/declaration.ts'
import { announcingKey } from '../../../controllers/announcing/announcing.ts'
import { defineController } from '../../../controllers/loop/controller.ts'
import { makeMetrics } from '../../../telemetry/metrics/metrics.ts'
import { makeService } from '../../builders.ts'
import { silentLog } from '../../fakes/log.ts'
import { noObserver } from '../../fakes/observer.ts'
import { fakeClock } from '../../kube/fake-clock.ts'
import { recordedLog } from '../../kube/recorded-log.ts'

test('the configuration is looked at every minute, for somebody may have deleted a pool or a peer of ours', async () => {
  const quiet = { onChange() {}, synced: () => Promise.resolve() }
  const looks: string[] = []
  const reconciler = {
    name: 'announcing',
    reconcile: async (key: string) => {
      looks.push(key)
      return {}
    },
    findAnnouncement: () => Promise.resolve(undefined),
  }
  const deps = { caches: { services: quiet, records: quiet }, peerFacts: quiet, ownAddresses: quiet }
  const declaration = announcingController(deps as unknown as Parameters<typeof announcingController>[0], reconciler)
  const clock = fakeClock()
  const stop = new AbortController()
  const running = defineController(declaration, { log: silentLog, observer: noObserver, clock }).run(stop.signal)
  await clock.pass(0)
  assert.equal(looks, [announcingKey])
  await clock.pass(60_000)
  assert.equal(looks, [announcingKey, announcingKey])
  stop.abort()
  await running
})

test('a problem of the announcing software is counted, logged, and an Event on the object that causes it', async () => {
  const metrics = makeMetrics()
  const log = recordedLog()
  const events: string[] = []
  const report = problemReporter({
    announcer: { name: 'MetalLB' },
    events: {
      of: () => ({
        record: ({ metadata }: { metadata: { name: string } }, event: { reason: string; message: string }) =>
          void events.push(`${event.reason} ${metadata.name}: ${event.message}`),
      }),
    },
    caches: {
      services: { get: (key: string) => (key === 'default/web' ? makeService() : undefined) },
      nodes: { get: (name: string) => ({ metadata: { name } }) },
    },
    metrics,
    log,
  } as unknown as Parameters<typeof problemReporter>[0])
  const count = async () => /^eip_admission_announcer_problems_total (\S+)$/m.exec(await metrics.text())?.[1]
  assert.is(await count(), '0')
  report({ subject: { service: 'default/web' }, message: 'no pool' })
  report({ subject: { node: 'worker-1' }, message: 'no session' })
  report({ subject: { service: 'default/gone' }, message: 'no pool' })
  assert.is(await count(), '3')
  assert.equal(events, ['SyncLoadBalancerFailed web: MetalLB: no pool', 'PeeringFailed worker-1: MetalLB: no session'])
  assert.equal(
    log.lines.map(({ level, fields }) => `${level} ${String(fields.error)}`),
    ['warn no pool', 'warn no session', 'warn no pool'],
  )
})

test.run()
