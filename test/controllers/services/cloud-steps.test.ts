import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { empty } from '../../../announcers/empty.ts'
import { cloudSteps, quickSteps, type ServiceAddressDeps } from '../../../controllers/services/service-address.ts'
import type { Service } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { protectedAnnotation } from '../../../ledger/record/names.ts'
import { want } from '../../../ledger/want/want.ts'
import { sights } from '../../../lib/sights.ts'
import { makePolicy, makeRecord, makeService, metros } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'

const key = 'default/web'
const finalizers = ['eip-admission.dev/address-cleanup']
const bound = makeRecord(
  { phase: 'Bound', address: '203.0.113.40', reservationID: 'res-1' },
  { claimRef: { namespace: 'default', name: 'web', uid: 'uid-1' } },
)
const lost = makeRecord({ phase: 'Bound', reservationID: 'res-1' }, bound.spec)
const waiting = makeService({ finalizers })
const leaving = makeService({
  finalizers,
  annotations: { 'eip-admission.dev/address': '203.0.113.40', 'eip-admission.dev/reclaim-policy': 'Retain' },
  deletionTimestamp: 'now',
})
const gone = makeService({ finalizers, deletionTimestamp: 'now' })
const wasProtected = { [protectedAnnotation]: 'true' }
const policy = makePolicy({ metro: 'da' })

type State = { service?: Service | undefined; record?: ElasticIP | undefined }

/** A Service and a record as they are stored and as a cache has them; every step that is carried out ends the run. */
function stage(stored: State, cached: State = stored, waitMs = 0) {
  const api = apiServer()
  if (stored.service) api.put(services, stored.service)
  const done: string[] = []
  const taken: string[] = []
  const forgotten: string[] = []
  const seen = sights(() => 0)
  const deps: ServiceAddressDeps = {
    client: api.client,
    cached: { service: () => cached.service, record: () => cached.record, records: () => [] },
    getRecord: () => Promise.resolve(stored.record),
    want: (service) => want(service, policy, metros),
    announcer: empty({ ipAnnotation: undefined }),
    requestAnnotations: policy.requestAnnotations,
    users: () => [],
    policy,
    findAnnouncement: () => Promise.resolve(undefined),
    carryOut: (step) => {
      done.push(step.do)
      return Promise.resolve({ againInMs: 1 })
    },
    claimWaits: { leftMs: () => waitMs, end() {} },
    graceMs: 1_000,
    sights: {
      forMs(name, state) {
        if (state === undefined) forgotten.push(name)
        return seen.forMs(name, state)
      },
      forget: () => void forgotten.push('all'),
    },
  }
  const queues = {
    claim: { add: (one: string) => taken.push(`claim ${one}`) },
    release: { add: (one: string) => taken.push(`release ${one}`) },
  }
  return { deps, queues, done, taken, forgotten }
}

const { signal } = new AbortController()

const cases: { name: string; stored: State; cached?: State; quick: string[]; claim: string[]; release: string[] }[] = [
  {
    name: 'a Service without its finalizer',
    stored: { service: makeService() },
    quick: ['add-finalizer'],
    claim: ['add-finalizer'],
    release: ['add-finalizer'],
  },
  {
    name: 'a Service without an address',
    stored: { service: waiting },
    quick: ['> claim default/web'],
    claim: ['claim'],
    release: ['> claim default/web'],
  },
  {
    name: 'the record of a Service that no longer exists',
    stored: { record: bound },
    quick: ['> release default/web'],
    claim: ['> release default/web'],
    release: ['release'],
  },
  {
    name: 'a Service that goes, without the record of an address that is to be retained',
    stored: { service: leaving },
    quick: ['> release default/web'],
    claim: ['> release default/web'],
    release: ['recover-records'],
  },
  {
    name: 'a Service that goes, whose address is released',
    stored: { service: gone },
    quick: ['remove-finalizers'],
    claim: ['remove-finalizers'],
    release: ['remove-finalizers'],
  },
  {
    name: 'an old cache that still shows an ended protection',
    stored: { service: gone, record: lost },
    cached: { service: gone, record: { ...lost, metadata: { ...lost.metadata, annotations: wasProtected } } },
    quick: ['> release default/web'],
    claim: ['> release default/web'],
    release: ['release'],
  },
  {
    name: 'an old cache that still shows the record',
    stored: { service: waiting },
    cached: { record: bound },
    quick: ['> release default/web'],
    claim: ['claim'],
    release: ['> claim default/web'],
  },
  {
    name: 'an old cache that shows a finished Service',
    stored: { service: waiting },
    cached: {},
    quick: [],
    claim: [],
    release: [],
  },
]

for (const { name, stored, cached = stored, ...expected } of cases) {
  for (const kind of ['quick', 'claim', 'release'] as const) {
    test(`${name}: the controller of ${kind} steps ${expected[kind].join() || 'does nothing'}`, async () => {
      const { deps, queues, done, taken } = stage(stored, cached)
      const reconciler = kind === 'quick' ? quickSteps(deps, queues) : cloudSteps(kind, deps, queues)
      await reconciler.reconcile(key, signal)
      assert.equal([...done, ...taken.map((one) => `> ${one}`)], expected[kind])
    })
  }
}

for (const { kind, state, step } of [
  {
    kind: 'quick',
    state: { service: gone },
    step: 'remove-finalizers',
  },
  { kind: 'release', state: { record: bound }, step: 'release' },
] as const)
  test(`after ${step} the controller of ${kind} steps looks no more for a second: the change is an event`, async () => {
    const { deps, queues, done } = stage(state)
    const carryOut: typeof deps.carryOut = (one) => Promise.resolve(void done.push(one.do))
    const given = { ...deps, carryOut }
    const reconciler = kind === 'quick' ? quickSteps(given, queues) : cloudSteps(kind, given, queues)
    assert.equal(await reconciler.reconcile(key, signal), { steps: [step], againInMs: 1_000 })
    assert.equal(done, [step])
  })

test('a claim ends its run: two controllers would show the same address, and one of them would meet a conflict', async () => {
  const stored: State = { service: waiting }
  const { deps, queues, done } = stage(stored)
  const carryOut: ServiceAddressDeps['carryOut'] = (step) => {
    done.push(step.do)
    stored.record = makeRecord({ phase: 'Reserved', address: '203.0.113.40', reservationID: 'res-1' })
    return Promise.resolve(undefined)
  }
  const outcome = await cloudSteps('claim', { ...deps, carryOut }, queues).reconcile(key, signal)
  assert.equal(done, ['claim'])
  assert.ok(outcome.againInMs)
})

test('a record that came and went while its watch was broken is no event, but its Service is still deleted', async () => {
  const stored: State = { service: gone, record: lost }
  const { deps, queues, done } = stage(stored, { service: gone })
  const carryOut: typeof deps.carryOut = (step) => {
    done.push(step.do)
    delete stored.record
    return Promise.resolve(step.do === 'release' ? undefined : {})
  }
  const reconciler = cloudSteps('release', { ...deps, carryOut }, queues)
  const { againInMs } = await reconciler.reconcile(key, signal)
  assert.is(againInMs, 1_000)
  await reconciler.reconcile(key, signal)
  assert.equal(done, ['release', 'remove-finalizers'])
})

test('what a previous term saw of a Service is forgotten: nothing is old when a term begins', () => {
  const { deps, queues, forgotten } = stage({})
  quickSteps(deps, queues).keepOnly?.(new Set())
  assert.equal(forgotten, ['all'])
})

for (const kind of ['quick', 'claim'] as const)
  test(`a claim that must wait is not made by the controller of ${kind} steps, which looks again then`, async () => {
    const { deps, queues, done, taken } = stage({ service: waiting }, undefined, 42_000)
    const reconciler = kind === 'quick' ? quickSteps(deps, queues) : cloudSteps(kind, deps, queues)
    assert.equal(await reconciler.reconcile(key, signal), { againInMs: 42_000 })
    assert.equal([...done, ...taken], [])
  })

test('the wait of a Service that no longer exists is forgotten', async () => {
  const { deps, queues, forgotten } = stage({})
  await quickSteps(deps, queues).reconcile(key, signal)
  assert.equal(forgotten, ['unbound default/web', 'withdrawal default/web'])
})

test('each controller has a name of its own', () => {
  const { deps, queues } = stage({})
  const names = [quickSteps(deps, queues), cloudSteps('claim', deps, queues), cloudSteps('release', deps, queues)]
  assert.equal(
    names.map(({ name }) => name),
    ['service-address', 'service-claim', 'service-release'],
  )
})

test.run()
