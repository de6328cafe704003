import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KubeError } from '../../kube/errors.ts'
import { type EventRecorderOptions, eventRecorder } from '../../kube/events.ts'
import type { KubeEvent, KubeObject } from '../../kube/objects.ts'
import { heardLog } from './heard-log.ts'

const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'web', uid: 'u1', resourceVersion: '7' },
}
const failed = { type: 'Warning', reason: 'SyncLoadBalancerFailed', message: 'no address left' } as const

const now = () => new Date('2026-01-02T03:04:05.678Z')

/** A recorder whose server keeps what it is sent; `refuse` makes it refuse. */
function recorder() {
  const created: KubeEvent[] = []
  const patched: { name: string; merge: Partial<KubeEvent> }[] = []
  const refuse: { create?: Error; patch?: Error } = {}
  const log = heardLog()
  const client = {
    async create(_: unknown, event: KubeEvent) {
      if (refuse.create) throw refuse.create
      created.push(structuredClone(event))
    },
    async patch(_: unknown, { name, patch }: { name: string; patch: { merge: Partial<KubeEvent> } }) {
      if (refuse.patch) throw refuse.patch
      patched.push({ name, merge: patch.merge })
    },
  } as unknown as EventRecorderOptions['client']
  return {
    ...eventRecorder({ client, component: 'eip-admission', instance: 'pod-1', log, now }),
    created,
    patched,
    refuse,
    log,
  }
}

test('an event says what happened to which object, when, and who says so', async () => {
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

test('an event about an object without a namespace lives in default', async () => {
  const { record, written, created } = recorder()
  record({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } }, failed)
  await written()
  assert.equal([created[0]?.metadata.namespace, created[0]?.involvedObject.namespace], ['default', undefined])
})

test('what happens again raises a count, and a burst is few writes', async () => {
  const { record, written, created, patched } = recorder()
  for (let i = 0; i < 1_000; i++) record(service, failed)
  await written()
  record(service, failed)
  await written()
  assert.is(created.length, 1)
  assert.equal(
    patched.map(({ name, merge }) => [name, merge.count]),
    [
      [created[0]?.metadata.name, 1_000],
      [created[0]?.metadata.name, 1_001],
    ],
  )
})

test('other words are another event, until there are too many of them', async () => {
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

test('an event that the server has forgotten is told anew', async () => {
  const { record, written, created, refuse } = recorder()
  record(service, failed)
  await written()
  refuse.patch = new KubeError('gone', { status: 404, reason: 'NotFound' })
  record(service, failed)
  await written()
  assert.equal(
    created.map(({ count }) => count),
    [1, 2],
  )
})

test('a long message is cut', async () => {
  const { record, written, created } = recorder()
  record(service, { ...failed, message: 'x'.repeat(5_000) })
  await written()
  assert.is(created[0]?.message.length, 1_024)
  assert.match(created[0]?.message ?? '', /x…$/)
})

test('an event that cannot be written is logged and troubles nobody', async () => {
  const { record, written, refuse, log } = recorder()
  refuse.create = new KubeError('create Event: boom (500)', { status: 500, reason: 'InternalError' })
  record(service, failed)
  await written()
  refuse.create = new KubeError('namespace is being terminated', { status: 403, reason: 'Forbidden' })
  record(service, failed)
  await written()
  assert.equal(
    log.lines.map(({ level, message }) => [level, message]),
    [
      ['warn', 'event not written'],
      ['debug', 'event not written'],
    ],
  )
  delete refuse.create
  record(service, failed)
  await written()
})

test('a flood of events is bounded', async () => {
  const { record, written, created, log } = recorder()
  for (let i = 0; i < 2_000; i++) record({ ...service, metadata: { name: `s${i}`, uid: `u${i}` } }, failed)
  await written()
  assert.ok(created.length <= 201, `${created.length} events`)
  assert.ok(log.lines.every(({ level }) => level === 'debug'))
})

test.run()
