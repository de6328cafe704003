import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError } from '../../kube/errors.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { webhookIdentities } from '../../webhooks/webhook.ts'
import { probeAnnotation, probeOnce, webhookProbe } from '../../webhooks/webhook-probe.ts'
import { silentLog } from '../fakes/log.ts'
import { fakeClock } from '../kube/fake-clock.ts'
import { eventually } from '../whole/eventually.ts'

test('the interval separates two probes, even if it is longer than a Node timer can be', async () => {
  const over = new AbortController()
  let reads = 0
  // Webhooks that were missed once are probed again after 15 s. These cannot be probed.
  const fail = () => Promise.reject(new Error(`no answer to call ${(reads += 1)}`))
  const probe = webhookProbe({
    client: { get: fail, create: fail },
    namespace: 'eip-admission',
    intervalMs: 2 ** 31,
    events: { record() {} },
    mayReport: () => true,
    log: silentLog,
  })
  probe.start(over.signal)
  // Had the timer of the probe overflowed, it would end before this one, which was set later.
  await sleep(5)
  over.abort()
  assert.is(reads, 2, 'the two configurations, once')
})

test('webhooks that are missed twice cause an Event, and another one when they are reached again', async () => {
  const over = new AbortController()
  const reasons: string[] = []
  const dryRuns: unknown[] = []
  const clientConfig = { url: 'https://192.0.2.10' }
  const webhooks = webhookIdentities.map(({ name }) => ({ name, clientConfig }))
  let isInstalled = false
  const probe = webhookProbe({
    client: {
      get: (async () => (isInstalled ? { webhooks } : undefined)) as never,
      create: (async (_kind: unknown, object: KubeObject, options: { dryRun?: boolean }) => {
        dryRuns.push(options.dryRun)
        return { ...object, metadata: { ...object.metadata, annotations: { [probeAnnotation]: 'a-replica' } } }
      }) as never,
    },
    namespace: 'eip-admission',
    intervalMs: 5,
    events: { record: (_about, { reason, type }) => void reasons.push(`${type} ${reason}`) },
    mayReport: () => true,
    log: silentLog,
  })
  probe.start(over.signal)
  await eventually('they are missed', () => probe.problem(), 10_000)
  assert.is(probe.isReached(), false)
  isInstalled = true
  await eventually('they are reached', () => probe.isReached() || undefined, 10_000)
  over.abort()
  assert.is(probe.problem(), undefined)
  assert.equal([...new Set(reasons)], ['Warning AdmissionNotWorking', 'Normal AdmissionWorking'])
  assert.ok(dryRuns.length > 0 && dryRuns.every((dryRun) => dryRun === true), 'nothing is stored')
})

test('webhooks that are missed once are probed again after 15 seconds, whatever the interval', async () => {
  const [clock, over] = [fakeClock(), new AbortController()]
  const probe = webhookProbe({
    client: { get: async () => undefined, create: () => Promise.reject(new Error('none')) },
    namespace: 'eip-admission',
    intervalMs: 600_000,
    events: { record() {} },
    mayReport: () => true,
    log: silentLog,
    clock,
  })
  const isMissedAfter = async (ms: number) => {
    await clock.pass(ms)
    return probe.problem() !== undefined
  }
  probe.start(over.signal)
  assert.equal([await isMissedAfter(0), await isMissedAfter(14_999), await isMissedAfter(1)], [false, false, true])
  over.abort()
})

test('a refusal of the dry run is an answer of the API server, but any other failure is not', async () => {
  const webhooks = webhookIdentities.map(({ name }) => ({ name, clientConfig: { url: 'https://192.0.2.10' } }))
  const outcome = (failure: Error) =>
    probeOnce(
      {
        client: { get: (async () => ({ webhooks })) as never, create: () => Promise.reject(failure) },
        namespace: 'eip-admission',
      },
      new AbortController().signal,
    )
  const refusal = new KubeError('forbidden', { status: 403, reason: 'Forbidden' })
  assert.equal(await outcome(refusal), { outcome: 'unknown', reason: 'the API server refused the probe: forbidden' })
  assert.equal(await outcome(new Error('a mistake')), { outcome: 'unknown', reason: 'Error: a mistake' })
})

test.run()
