import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ElectionOptions, election } from '../../kube/election.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { recordedLog } from './recorded-log.ts'
import { type StoredLease, storedLease } from './stored-lease.ts'
import { errorOf } from './scripted-server.ts'
import { controlPlaneProblems } from '../../settings/control-plane.ts'
import { leaderElectionProblems } from '../../settings/leader-election.ts'

const lease = { namespace: 'kube-system', name: 'cloud-controller-manager' }

type Contender = {
  identity: string
  client: ReturnType<StoredLease['client']>
  clock: FakeClock
  log: ReturnType<typeof recordedLog>
  isLeader(): boolean
  leaseLeftMs(): number
  /** How often `lead` was called, and whether it runs now. */
  leaderships: number
  leading: boolean
  stop(): void
  stopped: Promise<void>
}

const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 }

/** A contender with its own clock, because the clocks of two machines may differ. */
function contend(identity: string, shared: StoredLease, options: Partial<ElectionOptions> = {}): Contender {
  const ending = new AbortController()
  const [clock, log] = [fakeClock(), recordedLog()]
  const contender = { identity, client: shared.client(clock), clock, log, leaderships: 0, leading: false }
  const lead = async (signal: AbortSignal) => {
    contender.leaderships += 1
    contender.leading = true
    if (!signal.aborted) await once(signal, 'abort')
    contender.leading = false
  }
  const { client } = contender
  const ours = election({ client, lease, identity, clock, log, lead, ...times, ...options })
  const stopped = ours.run(ending.signal)
  return Object.assign(contender, {
    isLeader: () => ours.isLeader(),
    leaseLeftMs: () => ours.leaseLeftMs(),
    stop: () => ending.abort(),
    stopped,
  })
}

async function passTogether(contenders: Contender[], ms: number, each: () => void = () => {}): Promise<void> {
  for (let i = 0; i < ms; i += 100) {
    for (const { clock } of contenders) {
      await clock.pass(100)
      each()
    }
  }
}

for (const fault of ['hangs', 'down', 'deaf'] as const) {
  test(`of three contenders one leads, and never two, while the leader's network is ${fault}`, async () => {
    const shared = storedLease()
    const three = ['a', 'b', 'c'].map((identity) => contend(identity, shared))
    const assertOneLeader = () => {
      assert.ok(three.filter((one) => one.isLeader()).length <= 1, 'two are leader')
      assert.ok(three.filter(({ leading }) => leading).length <= 1, 'two lead')
    }
    await passTogether(three, 20_000, assertOneLeader)
    const first = three.find((one) => one.isLeader())
    assert.ok(first)
    first.client.fault = fault
    await passTogether(three, 30_000, assertOneLeader)
    const second = three.find((one) => one.isLeader())
    assert.ok(second !== undefined && second !== first)
    first.client.fault = undefined
    await passTogether(three, 20_000, assertOneLeader)
    assert.ok(second.isLeader())
    for (const one of three) one.stop()
    await passTogether(three, 2_000, assertOneLeader)
    await Promise.all(three.map(({ stopped }) => stopped))
    assert.not.ok(three.some(({ leading }) => leading))
  })
}

/** A contender that collects how long nobody had led before each of its terms. */
const noteSilence = (silences: (number | undefined)[]) => async (signal: AbortSignal, silentMs: number | undefined) => {
  silences.push(silentMs)
  if (!signal.aborted) await once(signal, 'abort')
}

test('a leader knows how long there was no leader before it', async () => {
  const shared = storedLease()
  const silences: (number | undefined)[] = []
  const clock = fakeClock()
  const contenders = ['one', 'two'].map(
    (identity) => () => contend(identity, shared, { lead: noteSilence(silences), clock }),
  )
  for (const begin of contenders) {
    const contender = begin()
    await clock.pass(5_000)
    contender.stop()
    await contender.stopped
    await clock.pass(90_000)
  }
  assert.equal(silences, [undefined, 90_000])
})

test('a process that led or saw a leader before an outage of the API server knows that nobody else led', async () => {
  const shared = storedLease()
  const silences: (number | undefined)[] = []
  const both = ['one', 'two'].map((identity) => contend(identity, shared, { lead: noteSilence(silences) }))
  await passTogether(both, 5_000)
  for (let n = 0; n < 3; n += 1) {
    for (const { client } of both) client.fault = 'down'
    await passTogether(both, 300_000)
    for (const { client } of both) client.fault = undefined
    await passTogether(both, 20_000)
  }
  assert.equal(silences, [undefined, 0, 0, 0])
  for (const one of both) one.stop()
  await passTogether(both, 1_000)
})

test('a claim and a release write the Lease as client-go does', async () => {
  const shared = storedLease()
  const one = contend('one', shared)
  await one.clock.pass(0)
  assert.equal(shared.spec(), {
    holderIdentity: 'one',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-02T03:04:05.678000Z',
    renewTime: '2026-01-02T03:04:05.678000Z',
    leaseTransitions: 0,
  })
  await one.clock.pass(2_000)
  assert.equal(
    [shared.spec()?.renewTime, shared.spec()?.acquireTime],
    ['2026-01-02T03:04:07.678000Z', '2026-01-02T03:04:05.678000Z'],
  )
  one.stop()
  await one.stopped
  assert.equal(shared.spec(), {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: '2026-01-02T03:04:07.678000Z',
    renewTime: '2026-01-02T03:04:07.678000Z',
    leaseTransitions: 0,
  })
})

test('after a leader stops, another one leads within half a second', async () => {
  const shared = storedLease()
  const one = contend('one', shared)
  await one.clock.pass(1_000)
  const two = contend('two', shared)
  await passTogether([one, two], 5_000)
  assert.equal([one.isLeader(), two.isLeader()], [true, false])
  one.stop()
  await one.stopped
  await two.clock.pass(500)
  assert.ok(two.isLeader())
  assert.equal([shared.spec()?.holderIdentity, shared.spec()?.leaseTransitions], ['two', 1])
  two.stop()
  await two.stopped
})

test('after a leader dies, another one leads when the lease has expired by its own clock, whatever times the Lease shows', async () => {
  const shared = storedLease()
  const one = contend('one', shared)
  await one.clock.pass(4_000)
  const two = contend('two', shared)
  two.clock.suspend(3_600_000)
  await two.clock.pass(14_900)
  assert.not.ok(two.isLeader())
  await two.clock.pass(700)
  assert.ok(two.isLeader())
  two.stop()
  await two.stopped
})

for (const way of ['freeze', 'suspend'] as const) {
  test(`after a ${way} longer than the deadline a process knows at once that it no longer leads, and stops`, async () => {
    const shared = storedLease()
    const one = contend('one', shared)
    await one.clock.pass(4_000)
    assert.ok(one.isLeader())
    one.clock[way](10_001)
    assert.not.ok(one.isLeader())
    const two = contend('two', shared)
    await two.clock.pass(15_600)
    assert.ok(two.isLeader())
    await one.clock.pass(2_000)
    assert.equal([one.isLeader(), one.leading, two.isLeader()], [false, false, true])
    one.stop()
    two.stop()
    await passTogether([one, two], 1_000)
  })
}

test('a leader that cannot renew keeps leading for a while, and stops after ten seconds', async () => {
  const one = contend('one', storedLease())
  await one.clock.pass(4_000)
  one.client.fault = 'down'
  await one.clock.pass(7_000)
  one.client.fault = undefined
  await one.clock.pass(2_000)
  assert.equal([one.isLeader(), one.leaderships], [true, 1])
  one.client.fault = 'hangs'
  await one.clock.pass(12_000)
  assert.equal([one.isLeader(), one.leading], [false, false])
  one.client.fault = undefined
  await one.clock.pass(12_000)
  assert.equal([one.isLeader(), one.leaderships], [true, 2])
  one.stop()
  await one.clock.pass(1_000)
})

test('a claim that says 68 years counts as long as it says, and no longer than an administrator leaves it there', async () => {
  const shared = storedLease()
  const one = contend('one', shared, { leaseDurationMs: 2 ** 31 * 1000 - 1_000, renewDeadlineMs: 10_000 })
  await one.clock.pass(100)
  one.client.fault = 'down'
  const two = contend('two', shared)
  await two.clock.pass(3_600_000)
  assert.not.ok(two.isLeader())
  shared.assign('')
  await two.clock.pass(1_000)
  assert.ok(two.isLeader())
  for (const contender of [one, two]) contender.stop()
  await passTogether([one, two], 1_000)
})

const short = { leaseDurationMs: 6_000, renewDeadlineMs: 5_000, retryPeriodMs: 1_000, longestLeaseMs: 24_000 }

test('a leader that renews too late again and again gets a longer lease, and later the usual one', async () => {
  const shared = storedLease()
  const one = contend('one', shared, short)
  one.client.fault = 'slow'
  await one.clock.pass(60_000)
  const terms = one.leaderships
  assert.ok(terms > 1)
  await one.clock.pass(300_000)
  assert.equal([one.isLeader(), one.leaderships, shared.spec()?.leaseDurationSeconds], [true, terms, 24])
  // Its claim counts for the others as long as it says.
  const two = contend('two', shared, short)
  await two.clock.pass(23_900)
  assert.not.ok(two.isLeader())
  two.stop()
  await two.stopped
  one.client.fault = undefined
  await one.clock.pass(300_000)
  assert.equal([one.isLeader(), one.leaderships, shared.spec()?.leaseDurationSeconds], [true, terms, 6])
  one.stop()
  await one.stopped
})

test('of three contenders that all renew too late never two lead, whatever the lengths of their leases', async () => {
  const shared = storedLease()
  const three = ['a', 'b', 'c'].map((identity) => contend(identity, shared, short))
  const lengths = new Set<number | undefined>()
  const assertOneLeader = () => {
    lengths.add(shared.spec()?.leaseDurationSeconds)
    assert.ok(three.filter((one) => one.isLeader()).length <= 1, 'two are leader')
    assert.ok(three.filter(({ leading }) => leading).length <= 1, 'two lead')
  }
  for (const fault of ['slow', undefined, 'slow', 'hangs', 'slow'] as const) {
    for (const { client } of three) client.fault = fault
    await passTogether(three, 30_000, assertOneLeader)
  }
  // Which of the three renews late often enough for the longest is chance.
  assert.ok(lengths.has(6) && lengths.has(12), [...lengths].join())
  for (const { client } of three) client.fault = undefined
  for (const one of three) one.stop()
  await passTogether(three, 5_000, assertOneLeader)
})

test('a lease that others take makes no later one longer, however long the leader takes to stop', async () => {
  const shared = storedLease()
  const clock = fakeClock()
  const lead = async (signal: AbortSignal) => {
    await once(signal, 'abort')
    await clock.sleep(2_000)
  }
  const one = contend('one', shared, { ...short, lead, clock })
  for (let n = 0; n < 3; n += 1) {
    await clock.pass(3_000)
    shared.assign('predecessor')
    await clock.pass(5_000)
    shared.assign('')
  }
  await clock.pass(3_000)
  assert.equal([one.isLeader(), shared.spec()?.leaseDurationSeconds], [true, 6])
  one.stop()
  await clock.pass(3_000)
  await one.stopped
})

test('an outage of the API server does not make a lease longer', async () => {
  const shared = storedLease()
  const one = contend('one', shared, short)
  for (let n = 0; n < 3; n += 1) {
    await one.clock.pass(40_000)
    one.client.fault = 'down'
    await one.clock.pass(40_000)
    one.client.fault = undefined
  }
  await one.clock.pass(10_000)
  assert.equal([one.isLeader(), one.leaderships, shared.spec()?.leaseDurationSeconds], [true, 4, 6])
  one.stop()
  await one.stopped
})

test('a leader keeps its lease after the answer to a renewal was lost', async () => {
  const shared = storedLease()
  const one = contend('one', shared)
  await one.clock.pass(1_900)
  one.client.fault = 'deaf'
  await one.clock.pass(200)
  one.client.fault = undefined
  await one.clock.pass(20_000)
  assert.equal([one.isLeader(), one.leaderships], [true, 1])
  one.stop()
  await one.stopped
  assert.is(shared.spec()?.holderIdentity, '')
})

test('a leader stops at once when an operator has assigned the lease to another holder', async () => {
  const shared = storedLease()
  const one = contend('one', shared)
  await one.clock.pass(4_000)
  shared.assign('predecessor')
  await one.clock.pass(2_000)
  assert.equal([one.isLeader(), one.leading, shared.spec()?.holderIdentity], [false, false, 'predecessor'])
  one.stop()
  await one.clock.pass(500)
  await one.stopped
})

test('the lease is renewed while the leader finishes its work, and released after it', async () => {
  const shared = storedLease()
  const work = Promise.withResolvers<void>()
  const one = contend('one', shared, { lead: () => work.promise })
  await one.clock.pass(1_000)
  one.stop()
  await one.clock.pass(30_000)
  assert.equal([one.isLeader(), shared.spec()?.holderIdentity], [true, 'one'])
  work.resolve()
  await one.stopped
  assert.equal([one.isLeader(), shared.spec()?.holderIdentity], [false, ''])
})

test('a renewal that is in flight at the end does not claim the lease again', async () => {
  const shared = storedLease()
  const one = contend('one', shared)
  await one.clock.pass(1_000)
  one.client.fault = 'slow'
  await one.clock.pass(1_500)
  one.client.fault = undefined
  one.stop()
  await one.clock.pass(10_000)
  await one.stopped
  assert.is(shared.spec()?.holderIdentity, '')
})

test('a leader whose work throws releases the lease and rejects with the error', async () => {
  const shared = storedLease()
  const one = contend('one', shared, { lead: () => Promise.reject(new Error('a bug')) })
  assert.is((await errorOf(one.stopped)).message, 'a bug')
  assert.is(shared.spec()?.holderIdentity, '')
})

/** Work that returns at once. A loop without its pause would never let a test end, so it throws in the end. */
function shortWork() {
  const work = {
    count: 0,
    lead: async () => {
      work.count += 1
      if (work.count > 1_000) throw new Error('the loop has no pause')
    },
  }
  return work
}

test('a leader whose work returns releases the lease, and another contender takes it', async () => {
  const shared = storedLease()
  const contenders = [contend('one', shared, { lead: shortWork().lead }), contend('two', shared)]
  await passTogether(contenders, 10_000)
  assert.ok(contenders[1]?.isLeader())
  for (const one of contenders) one.stop()
  await passTogether(contenders, 3_000)
  await Promise.all(contenders.map(({ stopped }) => stopped))
})

test('work may throw when its signal aborts', async () => {
  const shared = storedLease()
  const one = contend('one', shared, {
    lead: (signal) => once(signal, 'abort').then(() => signal.throwIfAborted()),
  })
  await one.clock.pass(1_000)
  one.stop()
  await one.stopped
  assert.is(shared.spec()?.holderIdentity, '')
})

test('a contender that does not lead reads the Lease about twice a second, and writes nothing', async () => {
  const shared = storedLease()
  const one = contend('one', shared)
  await one.clock.pass(100)
  const two = contend('two', shared)
  const before = { reads: shared.reads(), writes: shared.writes() }
  await two.clock.pass(10_000)
  assert.is(shared.writes(), before.writes)
  const reads = shared.reads() - before.reads
  assert.ok(reads <= 41, `${reads} reads in ten seconds`)
  one.stop()
  two.stop()
  await passTogether([one, two], 1_000)
})

test('a contender that hesitates leaves a free lease to others, and takes it if none of them does', async () => {
  const shared = storedLease()
  const [first, last] = [contend('first', shared), contend('last', shared, { hesitationMs: () => 1_500 })]
  await passTogether([first, last], 2_000)
  assert.ok(first.isLeader())
  first.stop()
  await passTogether([first, last], 1_000)
  assert.not(last.isLeader())
  await passTogether([first, last], 1_500)
  assert.ok(last.isLeader())
  last.stop()
  await passTogether([last], 1_000)
})

for (const [pause, hesitationMs, most] of [
  ['the usual pause of its claims', 0, 61],
  ['its hesitation', 5_000, 13],
] as const)
  test(`who gives the lease up again and again claims it at the pace of ${pause}`, async () => {
    const work = shortWork()
    const one = contend('one', storedLease(), { lead: work.lead, hesitationMs: () => hesitationMs })
    await one.clock.pass(60_000)
    one.stop()
    await one.clock.pass(10_000)
    await one.stopped
    assert.ok(work.count > 1 && work.count <= most, `${work.count} leaderships in a minute`)
  })

test('the rest of a lease is counted from the last renewal to its end, and is 0 once it is lost', async () => {
  const one = contend('one', storedLease())
  const left = () => one.leaseLeftMs()
  await one.clock.pass(1_000)
  assert.is(left(), 14_000)
  await one.clock.pass(1_500)
  assert.is(left(), 14_500)
  one.client.fault = 'down'
  await one.clock.pass(9_000)
  assert.is(left(), 5_500)
  await one.clock.pass(1_000)
  assert.is(left(), 0)
  one.stop()
  await one.clock.pass(3_000)
})

test('a contender without its API server warns once until it answers again', async () => {
  const one = contend('one', storedLease())
  const warnings = () =>
    one.log.lines.filter(({ message }) => message === 'could not claim the lease').map(({ level }) => level)
  await one.clock.pass(3_000)
  one.client.fault = 'down'
  await one.clock.pass(60_000)
  assert.is(warnings().filter((level) => level === 'warn').length, 1)
  assert.ok(warnings().length > 2, 'it tries again and again')
  one.client.fault = undefined
  await one.clock.pass(30_000)
  assert.ok(one.isLeader())
  one.client.fault = 'down'
  await one.clock.pass(60_000)
  assert.is(warnings().filter((level) => level === 'warn').length, 2)
  one.stop()
  await one.clock.pass(3_000)
})

test('the loss of a lease is logged once', async () => {
  const one = contend('one', storedLease())
  await one.clock.pass(3_000)
  one.client.fault = 'down'
  await one.clock.pass(11_500)
  const lines = one.log.lines.map(
    ({ level, message, fields }) => `${level}: ${message} ${JSON.stringify(fields.reason ?? '')}`,
  )
  assert.is(lines[0], 'info: leading ""')
  assert.ok(lines.includes('warn: could not renew the lease ""'))
  assert.equal(
    lines.filter((line) => line.includes('lost')),
    ['warn: lease lost "it could not be renewed in time"'],
  )
  one.stop()
  await one.clock.pass(3_000)
})

const wrong: { name: string; options: Partial<ElectionOptions>; words: RegExp }[] = [
  { name: 'an empty identity', options: { identity: '' }, words: /the identity is empty/ },
  {
    name: 'a deadline as long as the lease',
    options: { renewDeadlineMs: 15_000 },
    words: /they are 15000, 15000 and 2000 ms/,
  },
  { name: 'a period too near the deadline', options: { retryPeriodMs: 9_000 }, words: /longer than 1.2 retry periods/ },
]

for (const { name, options, words } of wrong) {
  test(`${name} is refused`, () => {
    assert.throws(() => contend('one', storedLease(), options), words)
  })
}

/** Times of a lease in milliseconds: its length, the deadline of a renewal and the period of tries. */
const leaseTimes: [lease: number, deadline: number, retry: number, isRefused: boolean][] = [
  [6_000, 5_000, 1_000, false],
  [6_000, 6_000, 1_000, true],
  [6_000, 1_201, 1_000, false],
  [6_000, 1_200, 1_000, true],
]
for (const [lease, deadline, retry, isRefused] of leaseTimes)
  test(`the settings refuse the lease times that an election refuses: ${lease}, ${deadline} and ${retry} ms`, () => {
    const times = { leaseDurationMs: lease, renewDeadlineMs: deadline, retryPeriodMs: retry }
    const flags = (prefix: string) => ({
      [`${prefix}-lease-duration`]: `${lease}ms`,
      [`${prefix}-renew-deadline`]: `${deadline}ms`,
      [`${prefix}-retry-period`]: `${retry}ms`,
    })
    assert.is(leaderElectionProblems({ flags: flags('--leader-elect'), env: {} }).length > 0, isRefused)
    assert.is(controlPlaneProblems({ flags: flags('--control-plane'), env: {} }).length > 0, isRefused)
    const contended = () => contend('one', storedLease(), times).stop()
    if (isRefused) assert.throws(contended, /longer than 1.2 retry periods/)
    else contended()
  })

test.run()
