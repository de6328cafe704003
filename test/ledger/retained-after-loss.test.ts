// Addresses that are to be retained, where their records or parts of them are lost.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { empty } from '../../announcers/empty.ts'
import { services } from '../../kube/resource.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { protectAnnotation, reclaimAnnotation, serviceFinalizer } from '../../ledger/record/names.ts'
import { makeService } from '../builders.ts'
import { graceMs, type Harness, makeHarness, type Process, type ProcessOptions, timeoutMs } from './harness.ts'

const key = 'default/web'
const [namespace, name] = ['default', 'web']

/** A Service that has its address, and a process that serves it. */
async function settled(options: ProcessOptions = {}) {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const a = harness.process('a', options)
  harness.addService(makeService({ finalizers: [serviceFinalizer] }))
  await a.reconcile(key)
  assert.is(harness.record()?.status?.phase, 'Bound')
  return { harness, a }
}

/** What a backup that keeps no status makes of a record. */
function loseStatus(harness: Harness): void {
  const { status: _lost, ...restored } = harness.record() as ElasticIP
  harness.api.drop(elasticIPs, { name: 'default.web' })
  harness.api.put(elasticIPs, restored)
}

/** Lets the requests end that a record may have in flight, and then its grace period. */
async function settle(harness: Harness, a: Process): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await a.reconcile(key)
    harness.advance(graceMs + timeoutMs)
  }
}

async function annotate(harness: Harness, annotations: Record<string, string>): Promise<void> {
  await harness.api.client.patch(services, { namespace, name, patch: { merge: { metadata: { annotations } } } })
}

const found = (harness: Harness) => {
  const { status, spec } = harness.record() ?? {}
  return [status?.phase, status?.address, spec?.reclaimPolicy, harness.reservationsOf(), harness.api.stored(services)]
}
/** Software that announces an address until its Service is gone. */
const lasting = {
  ...empty({ ipAnnotation: 'example.com/ip' }),
  withdrawsOnlyOnDeletion: { restoring: () => undefined },
}

const kept = ['Released', '203.0.113.1', 'Retain', ['res-1'], []]

for (const [what, annotations] of [
  ['is protected', { [protectAnnotation]: 'true' }],
  ['asks for that later than its record knows', { [reclaimAnnotation]: 'Retain' }],
] as const) {
  test(`an address whose record lost its status is retained when its Service ${what}`, async () => {
    const { harness, a } = await settled()
    await annotate(harness, annotations)
    loseStatus(harness)
    await harness.api.client.remove(services, { namespace, name })
    await settle(harness, a)
    assert.equal(found(harness), kept)
  })

  test(`the same where the software withdraws only when the Service that ${what} is gone`, async () => {
    const { harness, a } = await settled({ announcer: lasting })
    await annotate(harness, annotations)
    loseStatus(harness)
    await harness.api.client.remove(services, { namespace, name })
    await settle(harness, a)
    assert.equal(found(harness), kept)
  })
}

test.run()
