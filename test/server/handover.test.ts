import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { election } from '../../kube/election.ts'
import { makeActivity } from '../../telemetry/activity.ts'
import { type HandoverFacts, type HandoverStep, handover, planHandover } from '../../server/handover.ts'
import { type FakeClock, fakeClock } from '../kube/fake-clock.ts'
import { recordedLog } from '../kube/recorded-log.ts'
import { type StoredLease, storedLease } from '../kube/stored-lease.ts'
import { testRows } from '../drawn-rows.ts'

const question = 'us 2026-11-28T00:00:00.000Z'
const silent = { identity: 'us', holder: 'us', silentMs: 15_000, isFruitless: false, question, reached: undefined }
const asked = { identity: 'other', holder: 'us', silentMs: 0, isFruitless: false, question, reached: undefined }

const table: [HandoverStep, string, HandoverFacts][] = [
  ['lead', 'the provider answers', { ...silent, silentMs: 0, reached: `${question} other` }],
  ['lead', 'the provider is silent for a moment', { ...silent, silentMs: 14_999, reached: `${question} other` }],
  ['ask', 'nobody was asked yet', { ...silent, question: undefined }],
  ['ask', 'nobody has answered', silent],
  ['ask', 'an older question was answered', { ...silent, reached: 'us 2026-11-27T00:00:00.000Z other' }],
  ['ask', 'only this replica answered', { ...silent, reached: `${question} us` }],
  ['ask', 'it gave the lease up before', { ...silent, isFruitless: true, reached: `${question} other` }],
  ['give up', 'another replica answered', { ...silent, reached: `${question} other` }],
  ['read the provider', 'the leader asks', asked],
  [
    'read the provider',
    'the answer is to an older question',
    { ...asked, reached: 'us 2026-11-27T00:00:00.000Z other' },
  ],
  ['wait', 'it was answered already', { ...asked, reached: `${question} third` }],
  ['wait', 'nobody asks', { ...asked, question: undefined }],
  ['wait', 'a previous leader asked', { ...asked, holder: 'third' }],
  ['wait', 'nobody holds the lease', { ...asked, holder: '' }],
]

for (const [step, why, facts] of table)
  test(`${facts.holder === facts.identity ? 'a leader' : 'another replica'}: ${why}: ${step}`, () => {
    assert.is(planHandover(facts), step)
  })

const lease = { namespace: 'kube-system', name: 'cloud-controller-manager' }
const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 }

type Replica = { name: string; isLeader(): boolean; terms: number; cloudAnswers: boolean; reads: number }

/** A replica that calls the cloud each second while it leads. */
function replica(name: string, { shared, clock }: { shared: StoredLease; clock: FakeClock }): Replica {
  const activity = makeActivity(undefined, () => clock.now())
  const call = () =>
    activity.exchanged({ call: 'list', ms: 0, status: undefined, fault: self.cloudAnswers ? undefined : 'unavailable' })
  const cloud = {
    async reservations() {
      self.reads += 1
      call()
      if (!self.cloudAnswers) throw new Error('no answer')
      return []
    },
  }
  const [log, client] = [recordedLog(), shared.client(clock)]
  const options = { leaseClient: client as never, identity: name, log: log as never, activity, cloud, lease, clock }
  const handing = handover(options)
  const elected = election({
    client,
    lease,
    identity: name,
    log,
    clock,
    ...times,
    ...handing,
    lead: (signal) =>
      handing.during(async (own) => {
        self.terms += 1
        const ended = own.aborted ? Promise.resolve() : once(own, 'abort')
        void (async () => {
          for (; !own.aborted; await clock.sleep(1_000, own)) call()
        })()
        await ended
      }, signal),
  })
  const self: Replica = { name, isLeader: () => elected.isLeader(), terms: 0, cloudAnswers: true, reads: 0 }
  void elected.run(new AbortController().signal)
  return self
}

/** Replicas on one API server, of which the first leads. */
async function replicas(names: string[]) {
  const [shared, clock] = [storedLease(), fakeClock()]
  const all: Replica[] = []
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      await clock.pass(100)
      await turn()
      assert.ok(all.filter((one) => one.isLeader()).length <= 1, 'two lead')
    }
  }
  for (const name of names) {
    all.push(replica(name, { shared, clock }))
    await pass(1_000)
  }
  assert.is(all.find((one) => one.isLeader())?.name, names[0])
  return { all, pass, leader: () => all.find((one) => one.isLeader())?.name }
}

test('a leader that the provider does not answer hands the lease to a replica that has reached it', async () => {
  const { all, pass, leader } = await replicas(['a', 'b'])
  const [a, b] = all as [Replica, Replica]
  await pass(60_000)
  assert.equal([leader(), a.reads, b.reads], ['a', 0, 0], 'as long as the provider answers, nobody asks')
  a.cloudAnswers = false
  await pass(30_000)
  assert.equal([leader(), b.reads], ['b', 1])
  await pass(120_000)
  assert.equal([leader(), a.terms, b.terms, a.reads], ['b', 1, 1, 0], 'and it stays there')
})

test('the only one of three replicas that reaches the provider finally leads', async () => {
  const { all, pass, leader } = await replicas(['a', 'b', 'c'])
  for (const one of all) one.cloudAnswers = one.name === 'c'
  await pass(120_000)
  assert.is(leader(), 'c')
  await pass(120_000)
  assert.is(leader(), 'c')
})

test('while the provider answers no replica, the leader continues, and the others rarely ask the provider', async () => {
  const { all, pass, leader } = await replicas(['a', 'b'])
  for (const one of all) one.cloudAnswers = false
  await pass(300_000)
  assert.equal([leader(), all[0]?.terms], ['a', 1])
  const reads = all[1]?.reads ?? 0
  assert.ok(reads > 10 && reads <= 30, `${reads} reads in five minutes`)
})

test('a single replica continues to lead', async () => {
  const { all, pass, leader } = await replicas(['a'])
  for (const one of all) one.cloudAnswers = false
  await pass(120_000)
  assert.equal([leader(), all[0]?.terms], ['a', 1])
})

test('no replica gives up the lease twice in a row without an answer from the provider', async () => {
  const { all, pass } = await replicas(['a', 'b'])
  const [a, b] = all as [Replica, Replica]
  // The cloud answers the question of the other replica, and nothing that a leader calls.
  for (const one of all) Object.defineProperty(one, 'cloudAnswers', { get: () => !one.isLeader() })
  await pass(600_000)
  assert.ok(a.terms > 1 && b.terms > 1, 'each answer gives one more try')
  Object.defineProperty(a, 'cloudAnswers', { get: () => false })
  await pass(60_000)
  const terms = a.terms
  await pass(600_000)
  assert.ok(a.terms - terms <= 1, `${a.terms - terms} more terms of a replica that reaches nothing`)
})

testRows(
  'server/handover.ts',
  table.map(([step, why]) => [why, step]),
  [
    'the provider answers',
    'nobody has answered',
    'it gave the lease up before',
    'another replica answered',
    'the leader asks',
    'nobody asks',
  ],
)

test.run()
