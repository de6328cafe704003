import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError } from '../../kube/errors.ts'
import { type EventRecorderOptions, eventRecorder } from '../../kube/events.ts'
import type { KubeEvent, KubeObject } from '../../kube/objects.ts'
import { recordedLog } from './recorded-log.ts'

const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'web', uid: 'u1', resourceVersion: '7' },
}
const failed = { type: 'Warning', reason: 'SyncLoadBalancerFailed', message: 'no address left' } as const

const start = Date.parse('2026-01-02T03:04:05.678Z')

/** A recorder with a client that keeps the writes; `failures` makes them fail, `pass` moves its clock. */
function recorder() {
  let passedMs = 0
  const now = () => new Date(start + passedMs)
  const created: KubeEvent[] = []
  const patched: { name: string; merge: Partial<KubeEvent> }[] = []
  const failures: { create?: Error; patch?: Error } = {}
  const log = recordedLog()
  const client = {
    async create(_: unknown, event: KubeEvent) {
      if (failures.create) throw failures.create
      created.push(structuredClone(event))
    },
    async patch(_: unknown, { name, patch }: { name: string; patch: { merge: Partial<KubeEvent> } }) {
      if (failures.patch) throw failures.patch
      patched.push({ name, merge: patch.merge })
    },
  } as unknown as EventRecorderOptions['client']
  return {
    ...eventRecorder({ client, component: 'eip-admission', instance: 'pod-1', log, now }),
    created,
    patched,
    failures,
    log,
    pass: (minutes: number) => void (passedMs += minutes * 60_000),
  }
}

const ensured = { type: 'Normal', reason: 'EnsuredLoadBalancer', message: 'Ensured load balancer' } as const

test('an Event has the object, the reason, the message, the time and the reporter', async () => {
  const { record, written, created } = recorder()
  record(service, failed)
  await written()
  const [event] = created
  assert.match(event?.metadata.name ?? '', /^web\.[0-9a-f]{16}$/)
  assert.equal(
    { ...event, metadata: event?.metadata.namespace },
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: 'default',
      involvedObject: {
        apiVersion: 'v1',
        kind: 'Service',
        namespace: 'default',
        name: 'web',
        uid: 'u1',
        resourceVersion: '7',
      },
      ...failed,
      count: 1,
      firstTimestamp: '2026-01-02T03:04:05Z',
      lastTimestamp: '2026-01-02T03:04:05Z',
      source: { component: 'eip-admission' },
      reportingComponent: 'eip-admission',
      reportingInstance: 'pod-1',
    },
  )
})

test('an Event about an object without a namespace is written to default', async () => {
  const { record, written, created } = recorder()
  record({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } }, failed)
  await written()
  assert.equal([created[0]?.metadata.namespace, created[0]?.involvedObject.namespace], ['default', undefined])
})

test('an endless repetition is written once in half an hour, on one Event', async () => {
  const { record, written, created, patched, pass } = recorder()
  for (let second = 0; second < 3_600; second += 5) {
    record(service, { ...failed, type: 'Normal', reason: 'Trying' })
    record(service, failed)
    await written()
    pass(5 / 60)
  }
  assert.equal(
    created.map(({ reason, count }) => [reason, count]),
    [
      ['Trying', 1],
      [failed.reason, 1],
    ],
  )
  assert.equal(
    patched.map(({ name, merge }) => [name, merge.count]),
    created.map(({ metadata }) => [metadata.name, 2]),
  )
})

test('a recurring message is news after another Normal Event, or after another message of its reason', async () => {
  const { record, written, created, patched } = recorder()
  for (const occurrence of [failed, ensured, failed, { ...failed, message: 'no rights' }, failed, failed]) {
    record(service, occurrence)
    await written()
  }
  assert.equal(
    created.map(({ message }) => message),
    [failed.message, ensured.message, 'no rights'],
  )
  assert.equal(
    patched.map(({ merge }) => [merge.message, merge.count]),
    [
      [failed.message, 2],
      [failed.message, 3],
    ],
  )
})

test('an object gets a burst of 25 Events, then one every five minutes; other objects are not affected', async () => {
  const { record, written, created, patched, pass, log } = recorder()
  const writes = () => created.length + patched.length
  const change = async (n: number) => {
    record(service, { ...failed, message: `attempt ${n % 2}` })
    await written()
  }
  for (let n = 0; n < 100; n++) await change(n)
  assert.is(writes(), 25)
  assert.ok(log.lines.every(({ level }) => level === 'debug'))
  record({ ...service, metadata: { ...service.metadata, uid: 'u2' } }, failed)
  await written()
  assert.is(writes(), 26)
  for (let n = 0; n < 12; n++) {
    pass(5)
    await change(n)
    await change(n + 1)
  }
  assert.is(writes(), 26 + 12)
})

test('after the date was set back, an object gets its Events, and a lasting state is recorded again', async () => {
  const { record, written, created, patched, pass } = recorder()
  record(service, failed)
  await written()
  pass(-24 * 60)
  record(service, failed)
  await written()
  record(service, { ...failed, message: 'another reason' })
  await written()
  assert.equal([created.length, patched.length], [2, 1])
})

test('another message makes another Event, until ten are similar: then they aggregate', async () => {
  const { record, written, created, patched } = recorder()
  for (let i = 0; i < 50; i++) record(service, { ...failed, message: `no address left, try ${i}` })
  record(service, { ...failed, reason: 'Other' })
  await written()
  assert.is(created.length, 12)
  assert.is(created[10]?.message, 'no address left, try 49')
  assert.is(created[10]?.count, 40)
  record(service, { ...failed, message: 'no address left, try 50' })
  await written()
  assert.equal(
    patched.map(({ merge }) => [merge.count, merge.message]),
    [[41, 'no address left, try 50']],
  )
})

test('an Event that has expired is created again', async () => {
  const { record, written, created, failures, pass } = recorder()
  record(service, failed)
  await written()
  failures.patch = new KubeError('gone', { status: 404, reason: 'NotFound' })
  pass(60)
  record(service, failed)
  await written()
  assert.equal(
    created.map(({ count }) => count),
    [1, 2],
  )
})

test('an Event whose creation got no answer is counted on if the API server has it', async () => {
  const { record, written, created, patched, failures, log } = recorder()
  failures.create = new KubeError('create Event: no answer within 10000 ms', { status: 0, reason: 'Timeout' })
  record(service, failed)
  await written()
  failures.create = new KubeError('create Event: it exists (409)', { status: 409, reason: 'AlreadyExists' })
  record(service, failed)
  await written()
  record(service, failed)
  await written()
  assert.equal([created.length, patched.map(({ merge }) => merge.count)], [0, [2]])
  assert.is(log.lines.length, 1)
})

test('a long message is truncated', async () => {
  const { record, written, created } = recorder()
  record(service, { ...failed, message: 'x'.repeat(5_000) })
  await written()
  assert.is(created[0]?.message.length, 1_024)
  assert.match(created[0]?.message ?? '', /x…$/)
})

test('an Event that cannot be written is logged, and record does not throw', async () => {
  const { record, written, failures, log } = recorder()
  failures.create = new KubeError('create Event: boom (500)', { status: 500, reason: 'InternalError' })
  record(service, failed)
  await written()
  failures.create = new KubeError('namespace is being terminated', { status: 403, reason: 'Forbidden' })
  record(service, failed)
  await written()
  assert.equal(
    log.lines.map(({ level, message }) => [level, message]),
    [
      ['warn', 'event not written'],
      ['debug', 'event not written'],
    ],
  )
  delete failures.create
  record(service, failed)
  await written()
})

test('the number of pending events is limited', async () => {
  const { record, written, created, log } = recorder()
  for (let i = 0; i < 2_000; i++) record({ ...service, metadata: { name: `s${i}`, uid: `u${i}` } }, failed)
  await written()
  assert.ok(created.length <= 201, `${created.length} events`)
  assert.ok(log.lines.every(({ level }) => level === 'debug'))
})

test.run()
