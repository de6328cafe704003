import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { tenancyIn } from '../../../controllers/assigning/assigning.ts'
import { makeLot, makeRecord } from '../../builders.ts'
import { world } from './world.ts'

const signal = new AbortController().signal

const lost = (isDone: boolean) => (done: () => void) => {
  if (isDone) done()
  throw new CloudError('no answer', { fault: 'unavailable', outcome: 'unknown' })
}

test('a new address is assigned to a node, its Service learns it, and afterwards no call is made', async () => {
  const { run, at, isAssigned, arrivals, reads, writes } = world()
  assert.is(isAssigned('203.0.113.1'), false)
  await run()
  assert.is(at(), 'A')
  assert.is(isAssigned('203.0.113.1'), true)
  assert.equal(
    arrivals.map(({ services, move }) => [services, move?.to]),
    [[['default/203.0.113.1'], 'a']],
  )
  reads.length = 0
  for (let n = 0; n < 5; n++) assert.equal(await run(), {})
  assert.equal([reads, writes.length], [[], 1])
})

test('an address leaves a node that fails, and does not return', async () => {
  const { run, at, failed, arrivals, writes } = world()
  await run()
  failed.add('a')
  await run()
  assert.is(at(), 'B')
  assert.equal(arrivals.at(-1)?.move, { from: 'a', to: 'b', why: 'node a is not Ready' })
  failed.clear()
  await run()
  assert.equal([at(), writes.length], ['B', 2])
})

test('an address that leaves a machine which is no node of the cluster is said to come from that machine', async () => {
  const of = world()
  const known = of.cloud.get('id-203.0.113.1')
  if (known) of.cloud.set('id-203.0.113.1', { ...known, machines: ['X'] })
  await runLong(of)
  assert.is(of.at(), 'A')
  assert.equal([of.arrivals.at(-1)?.move?.from, of.arrivals.at(-1)?.move?.to], ['X', 'a'])
})

test('an address that no machine had comes from no node, although a node has no machine', async () => {
  const { run, nameless, arrivals } = world()
  nameless.add('a')
  await run()
  assert.equal(arrivals.at(-1)?.move, { from: undefined, to: 'b', why: 'it was assigned to no machine' })
})

/** Reconciles an address until one that a strange machine has would be moved. */
async function runLong({ run, clock }: ReturnType<typeof world>): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    await run()
    await clock.pass(10_000)
  }
}

test('an address under whose id the provider has another one is neither moved nor taken from its machine', async () => {
  const of = world()
  of.cloud.set('id-203.0.113.1', {
    id: 'id-203.0.113.1',
    address: '203.0.113.99',
    machines: ['X'],
    tags: [],
    marks: {},
  })
  await runLong(of)
  of.shown.clear()
  of.releasing.add('203.0.113.1')
  await runLong(of)
  assert.equal([of.cloud.get('id-203.0.113.1')?.machines, of.writes], [['X'], []])
})

test('an address that another cluster now has is neither moved nor taken from its machine', async () => {
  const of = world()
  await of.run()
  of.giveAway('203.0.113.1')
  await of.readAll(signal)
  await runLong(of)
  assert.equal([of.at(), of.writes.length], ['X', 1])
  assert.is(of.isAssigned('203.0.113.1'), false)
  assert.match(of.problems[0]?.message ?? '', /no longer belongs to this Service: it is foreign.*transfer-from-cluster/)
  of.shown.clear()
  of.releasing.add('203.0.113.1')
  await runLong(of)
  assert.equal([of.at(), of.writes.length], ['X', 1])
})

test('an address that another cluster has costs no call at a reconcile, and is due when that begins or ends', async () => {
  const of = world()
  const due: string[] = []
  of.watch((key) => due.push(key))
  of.giveAway('203.0.113.1')
  for (let n = 0; n < 3; n += 1) {
    await of.readAll(signal)
    for (let run = 0; run < 5; run += 1) await of.run()
  }
  assert.equal([of.reads, due], [['all', 'all', 'all'], ['203.0.113.1']])
  of.takeBack('203.0.113.1')
  await of.readAll(signal)
  assert.equal(due, ['203.0.113.1', '203.0.113.1'])
  await of.run()
  assert.is(of.at(), 'A')
})

test('a leader that begins does not move what another cluster has', async () => {
  const of = world()
  of.giveAway('203.0.113.1')
  await runLong(of)
  assert.equal([of.at(), of.writes, of.reads], ['X', [], ['id-203.0.113.1']])
})

test('while no node is healthy the address stays, and the Service learns why once', async () => {
  const { run, at, failed, problems, writes } = world()
  await run()
  for (const name of ['a', 'b', 'c']) failed.add(name)
  for (let n = 0; n < 3; n++) assert.ok((await run()).againInMs)
  assert.equal([at(), writes.length], ['A', 1])
  assert.equal(
    problems.map(({ message }) => message),
    ['address 203.0.113.1: node a is not Ready; no other node is healthy'],
  )
})

test('an address moves even if each call to the provider takes longer than a read counts as live', async () => {
  for (const [ms, pages, count] of [
    [2_300, 1, 1],
    [3_000, 5, 1],
    [3_000, 5, 40],
  ] as const) {
    const addresses = Array.from({ length: count }, (_, n) => `203.0.113.${n}`)
    const of = world(addresses)
    await Promise.all(addresses.map(of.run))
    for (const address of addresses) of.set(`id-${address}`, ['A'])
    await of.readAll(signal)
    of.failed.add('a')
    of.slowDown(ms, pages)
    await of.clock.pass(60_000)
    of.reads.length = 0
    const runs = Promise.all(addresses.map(of.run))
    for (let seconds = 0; seconds < 60; seconds += 1) await of.clock.pass(1_000)
    await runs
    assert.equal(
      addresses.map((address) => of.at(address) !== 'A'),
      addresses.map(() => true),
    )
    assert.ok(of.reads.length <= 10, of.reads.join())
  }
})

test('a failed read moves nothing', async () => {
  const { run, at, failed, fall, writes, clock } = world()
  await run()
  failed.add('a')
  await clock.pass(20_000)
  fall()
  assert.match(String(await run().catch((error: unknown) => error)), 'down')
  assert.equal([at(), writes.length], ['A', 1])
})

for (const isDone of [true, false])
  test(`a move without an answer${isDone ? ' that happened' : ''} is checked, and made once`, async () => {
    const { run, at, fail, writes, clock } = world()
    fail(lost(isDone))
    for (let n = 0; n < 4; n++) {
      await run()
      await clock.pass(2_000)
    }
    assert.match(at() ?? '', isDone ? /^A$/ : /^[AB]$/)
    assert.is(writes.length, isDone ? 1 : 2)
  })

test('a machine that the provider refuses is passed over', async () => {
  const { run, at, fail } = world()
  fail(() => {
    throw new CloudError('no public interface', { fault: 'invalid', outcome: 'nothing' })
  })
  await run()
  assert.is(at(), 'B')
})

test('a machine on which moves fail twice is passed over, though the provider does not say that it is the reason', async () => {
  const { run, at, fail, serving, writes, clock } = world()
  serving.add('a')
  // Hetzner Cloud's answer for a server without a public interface.
  const serviceError = (done: () => void) => {
    fail(serviceError)
    if (writes.at(-1)?.endsWith('-> A') === false) return done()
    throw new CloudError('service_error', { fault: 'unavailable', outcome: 'unknown' })
  }
  fail(serviceError)
  for (let n = 0; n < 5; n++) {
    await run()
    await clock.pass(1_000)
  }
  assert.is(at(), 'B')
  assert.is(writes.length, 3)
})

test('a machine that refuses one address is passed over for the others too', async () => {
  const addresses = ['203.0.113.1', '203.0.113.2', '203.0.113.3']
  const { run, at, fail, serving, writes } = world(addresses)
  serving.add('a')
  const refuseOnA = (done: () => void) => {
    fail(refuseOnA)
    if (writes.at(-1)?.endsWith('-> A') === false) return done()
    throw new CloudError('no public interface', { fault: 'invalid', outcome: 'nothing' })
  }
  fail(refuseOnA)
  for (const address of addresses) await run(address)
  assert.not(addresses.some((address) => at(address) === 'A'))
  assert.is(writes.length, 4, 'one call for A, and one for each address')
})

test('an address that every machine refuses does not keep other addresses from their machines', async () => {
  const [broken, well] = ['203.0.113.1', '203.0.113.2']
  const { run, at, fail, leaving, writes } = world([broken, well])
  await run(well)
  const refuseBroken = (done: () => void) => {
    fail(refuseBroken)
    if (writes.at(-1)?.startsWith(`id-${broken} `) === false) return done()
    throw new CloudError('it is broken', { fault: 'invalid', outcome: 'nothing' })
  }
  fail(refuseBroken)
  await run(broken)
  assert.is(at(broken), '')
  for (const machine of ['A', 'B', 'C']) assert.ok(writes.includes(`id-${broken} -> ${machine}`), machine)
  const from = at(well) ?? ''
  leaving.add(from.toLowerCase())
  await run(well)
  assert.is.not(at(well), from)
})

test('after a refusal because of another assignment, the provider is read before the next move', async () => {
  const { run, at, set, failed, fail, reads, writes, clock } = world()
  await run()
  failed.add('a')
  fail(() => {
    set('id-203.0.113.1', ['C'])
    throw new CloudError('was assigned to machine C in between', { fault: 'conflict', outcome: 'nothing' })
  })
  reads.length = 0
  await run()
  await clock.pass(500)
  await run()
  assert.equal([at(), reads.length, writes.length], ['C', 1, 2])
})

test('a move that waited behind many calls is repeated without a look', async () => {
  const { run, at, fail, reads, clock } = world()
  fail(() => {
    throw new CloudError('too many requests', { fault: 'rate-limit', outcome: 'nothing' })
  })
  await run()
  assert.is(at(), '')
  await clock.pass(1_000)
  await run()
  assert.match(at() ?? '', /^[ABC]$/)
  assert.equal(reads, ['id-203.0.113.1'])
})

test('a move that a refused call left half done is checked', async () => {
  const { run, at, set, fail, reads, writes } = world()
  fail(() => {
    set('id-203.0.113.1', ['B'])
    throw new CloudError('too many requests', { fault: 'rate-limit', outcome: 'unknown' })
  })
  await run()
  assert.equal([at(), reads.length, writes.length], ['B', 2, 1])
})

test('an address that a write of a dead leader assigns during its release is taken from that machine', async () => {
  const { run, at, set, shown, releasing, readAll, watch } = world()
  const due: string[] = []
  watch((key) => due.push(key))
  await run()
  shown.clear()
  releasing.add('203.0.113.1')
  await run()
  assert.is(at(), '')
  set('id-203.0.113.1', ['B'])
  await readAll(signal)
  assert.equal(due, ['203.0.113.1'])
  await run()
  assert.is(at(), '')
})

test('an address that a person moves to a node stays there', async () => {
  const { run, at, set, readAll } = world()
  await run()
  set('id-203.0.113.1', ['C'])
  await readAll(signal)
  await run()
  assert.is(at(), 'C')
})

test('an address on a strange machine returns ten seconds after it is seen there, however often', async () => {
  const { run, at, set, readAll, clock } = world()
  await run()
  for (let times = 0; times < 6; times += 1) {
    set('id-203.0.113.1', ['Z'])
    await readAll(signal)
    await run()
    await clock.pass(9_900)
    await run()
    assert.is(at(), 'Z', 'a node registers after its machine')
    await clock.pass(200)
    await run()
    assert.match(at() ?? '', /^[ABC]$/, `time ${times}`)
    await readAll(signal)
    await run()
  }
})

test('an address is taken from its machine only when the ledger is about to free it', async () => {
  const { run, at, shown, free, clock } = world()
  await run()
  assert.equal(free('203.0.113.1'), { services: ['default/203.0.113.1'] })
  shown.clear()
  await run()
  assert.is(at(), 'A', 'nobody asked')
  await clock.pass(20_000)
  assert.equal(free('203.0.113.1'), { services: [] })
  await run()
  assert.is(at(), '')
  assert.is(free('203.0.113.1'), undefined)
})

test('a Service that keeps changing its type has its address taken from the machine once a minute', async () => {
  const { run, shown, releasing, free, clock, writes, reads, set, readAll } = world()
  /** Seconds until the address of a Service that wants none is free; the Service wants it again then. */
  const flip = async () => {
    shown.clear()
    for (let seconds = 0; ; seconds += 1) {
      if (!free('203.0.113.1')) {
        shown.set('203.0.113.1', ['default/web'])
        await run()
        return seconds
      }
      await run()
      await clock.pass(1_000)
    }
  }
  await run()
  const waits: number[] = []
  for (let n = 0; n < 9; n += 1) waits.push(await flip())
  assert.ok(Math.max(...waits.slice(0, 6)) < 30, waits.join())
  for (const wait of waits.slice(7)) assert.ok(wait > 30 && wait <= 60, waits.join())
  reads.length = 0
  shown.clear()
  const waiting = free('203.0.113.1')
  for (let n = 0; n < 20; n += 1) {
    await run()
    free('203.0.113.1')
    await clock.pass(1_000)
  }
  assert.ok((waiting?.waitMs ?? 0) > 20_000)
  assert.equal(reads, [], 'nobody asks the provider meanwhile')
  set('id-203.0.113.1', [])
  await readAll(signal)
  await clock.pass(11_000)
  assert.is(free('203.0.113.1')?.waitMs, undefined, 'what no machine has is looked at at once')
  set('id-203.0.113.1', ['A'])
  await readAll(signal)
  const before = writes.length
  releasing.add('203.0.113.1')
  await run()
  assert.is(writes.length, before + 1, 'what is deleted does not wait')
})

test('an address is not free while it is being moved, whatever a list shows that was read meanwhile', async () => {
  const { run, at, shown, fail, readAll, free } = world()
  await readAll(signal)
  let answer: unknown = 'not asked'
  fail(async (done) => {
    shown.clear()
    await readAll(signal)
    answer = free('203.0.113.1')
    lost(true)(done)
  })
  await run()
  assert.equal(answer, { services: [] })
  await run()
  assert.is(at(), '')
  assert.is(free('203.0.113.1'), undefined)
})

test('an address whose release has begun is taken from its machine, even by the next leader', async () => {
  const { run, at, set, shown, releasing } = world()
  set('id-203.0.113.1', ['A'])
  shown.clear()
  await run()
  assert.is(at(), 'A')
  releasing.add('203.0.113.1')
  await run()
  assert.is(at(), '')
})

test('the state that a release sees as free may be a minute old, so it is read again', async () => {
  const { run, at, shown, set, free, clock } = world()
  shown.clear()
  await run()
  await clock.pass(60_000)
  set('id-203.0.113.1', ['B'])
  assert.equal(free('203.0.113.1'), { services: [] })
  await run()
  assert.is(at(), '')
})

test('an address stays at its machine if a Service shows it again while the provider is read before it is taken', async () => {
  const [first, second] = ['203.0.113.1', '203.0.113.2']
  const { run, at, set, shown, free, fail, clock, slowDown, writes } = world([first, second])
  for (const address of [first, second]) {
    set(`id-${address}`, ['A'])
    await run(address)
    shown.delete(address)
    await clock.pass(11_000)
    free(address)
  }
  // The other address keeps the machine for so long that the last answer is too old for a write.
  fail(async (done) => {
    await clock.sleep(11_000)
    done()
  })
  const runs = [run(second), run(first)]
  slowDown(1_000, 1)
  await clock.pass(11_500)
  shown.set(first, ['default/again'])
  await clock.pass(5_000)
  await Promise.all(runs)
  assert.equal([at(first), at(second), writes], ['A', '', [`id-${second} -> nobody`]])
})

test('an address that waits for its turn at a machine waits for another turn where it is to go elsewhere by then', async () => {
  const { run, fail, writes, failed, serving } = world(['203.0.113.1', '203.0.113.2', '203.0.113.3'])
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const until = (gate: number) =>
    fail(async (done) => {
      await gates[gate]?.promise
      done()
    })
  serving.add('a')
  until(0)
  const runs = [run('203.0.113.1')]
  await settled()
  runs.push(run('203.0.113.2'))
  await settled()
  failed.add('a')
  serving.clear()
  serving.add('b')
  until(1)
  runs.push(run('203.0.113.3'))
  await settled()
  gates[0]?.resolve()
  await settled()
  assert.equal(writes, ['id-203.0.113.1 -> A', 'id-203.0.113.3 -> B'])
  gates[1]?.resolve()
  await Promise.all(runs)
  assert.equal(writes.slice(2).toSorted(), ['id-203.0.113.1 -> B', 'id-203.0.113.2 -> B'])
})

test('a new address is looked at by its id, although many others are about to move', async () => {
  const addresses = Array.from({ length: 7 }, (_, n) => `203.0.113.${n + 1}`)
  const { run, fail, reads } = world(addresses)
  const gate = Promise.withResolvers<void>()
  const runs: Promise<unknown>[] = []
  for (const address of addresses) {
    reads.length = 0
    fail(async (done) => {
      await gate.promise
      done()
    })
    runs.push(run(address))
    await settled()
  }
  assert.equal(reads, ['id-203.0.113.7'])
  gate.resolve()
  await Promise.all(runs)
})

/** The started steps have come as far as they can. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a move that was begun goes on although the Service has no endpoint any more', async () => {
  const { run, at, fail, lackEndpoints, clock } = world()
  const broken = () => {
    fail(broken)
    throw new CloudError('no answer', { fault: 'unavailable', outcome: 'unknown' })
  }
  fail(broken)
  await run()
  assert.is(at(), '')
  fail((done) => done())
  lackEndpoints(true)
  await clock.pass(20_000)
  await run()
  assert.is(at(), 'B')
})

test('a Service that comes back to its address is not told again where that is', async () => {
  const { run, shown, arrivals } = world()
  await run()
  const services = shown.get('203.0.113.1') ?? []
  shown.clear()
  await run()
  shown.set('203.0.113.1', services)
  await run()
  assert.is(arrivals.length, 1)
})

test('a Service that comes back before the release keeps the machine', async () => {
  const { run, at, shown, free, clock } = world()
  await run()
  const services = shown.get('203.0.113.1') ?? []
  shown.clear()
  await clock.pass(20_000)
  free('203.0.113.1')
  shown.set('203.0.113.1', services)
  await run()
  shown.clear()
  await run()
  assert.is(at(), 'A')
})

test('an address without a record routes nowhere, and its Service says what to do', async () => {
  const { run, cloud, problems, writes } = world()
  cloud.clear()
  assert.equal(await run(), {})
  assert.match(problems[0]?.message ?? '', /eip-admission has no reservation for the address.*spec.reservationID/)
  assert.equal(writes, [])
})

test('an address that no record has is free, and nothing of it is remembered after the next list', async () => {
  const { run, cloud, free, isAssigned, readAll } = world()
  await run()
  await readAll(signal)
  assert.ok(isAssigned('203.0.113.1'))
  cloud.clear()
  await readAll(signal)
  assert.not(isAssigned('203.0.113.1'))
  assert.is(free('198.51.100.1'), undefined)
})

test('a list that has another reservation of an address says nothing of it', async () => {
  const { known, set, isAssigned, readAll } = world()
  set('id-203.0.113.1', ['A'])
  known.set('203.0.113.1', 'a later id')
  await readAll(signal)
  assert.not(isAssigned('203.0.113.1'))
})

test('an address that was deleted at the provider is looked for once', async () => {
  const { run, cloud, known, failed, reads, writes, problems, clock } = world()
  await run()
  known.set('203.0.113.1', 'id-203.0.113.1')
  cloud.clear()
  failed.add('a')
  await clock.pass(60_000)
  reads.length = 0
  await run()
  for (let n = 0; n < 3; n++) await run()
  assert.equal(reads, ['id-203.0.113.1'])
  assert.equal([writes.length, problems], [1, []])
})

test('a new Service whose pods do not run yet gets its node with its first endpoint, or after a while', async () => {
  for (const isReady of [true, false]) {
    const { run, at, lackEndpoints, serving, clock, arrivals, problems, writes } = world()
    lackEndpoints(true)
    assert.ok((await run()).againInMs)
    await clock.pass(20_000)
    await run()
    assert.equal([at(), arrivals, problems], ['', [], []])
    lackEndpoints(!isReady)
    serving.add('c')
    if (!isReady) await clock.pass(10_000)
    await run()
    assert.equal([at(), writes.length], ['C', 1])
    lackEndpoints(true)
    await run()
    assert.is(at(), 'C', 'it arrived already')
  }
})

test('a new Service inherits neither the moves nor the refusals of the one that had its address before', async () => {
  const { run, at, fail, shown, arrivals, writes } = world()
  fail(() => {
    throw new CloudError('no public interface', { fault: 'invalid', outcome: 'nothing' })
  })
  await run()
  assert.is(at(), 'B')
  shown.set('203.0.113.1', ['default/other'])
  await run()
  assert.equal(arrivals.at(-1), { address: '203.0.113.1', services: ['default/other'] })
  assert.is(writes.length, 2)
})

test('a new term of a process remembers neither the machines nor the refusals of its previous one', async () => {
  const { run, at, fail, begin, set, isAssigned, writes } = world()
  fail(() => {
    throw new CloudError('no public interface', { fault: 'invalid', outcome: 'nothing' })
  })
  await run()
  assert.is(at(), 'B')
  // Meanwhile another process led.
  set('id-203.0.113.1', [])
  begin()
  assert.not(isAssigned('203.0.113.1'))
  await run()
  assert.is(at(), 'A')
  assert.is(writes.length, 3)
})

test('the address of a Service whose pods come and go moves at a limited pace, and the Service learns that', async () => {
  const { run, clock, leaving, writes, problems, at } = world()
  await run()
  for (let seconds = 0; seconds < 600; seconds += 1) {
    leaving.clear()
    leaving.add((at() ?? '').toLowerCase())
    await run()
    await clock.pass(1_000)
  }
  // Ten at once, then ten in each three minutes.
  assert.ok(writes.length >= 30 && writes.length <= 42, `${writes.length} moves`)
  assert.match(problems[0]?.message ?? '', /it has moved often recently/)
})

test('the addresses of a node that dies are spread over the others', async () => {
  const addresses = Array.from({ length: 40 }, (_, n) => `203.0.113.${n}`)
  const { run, at, set, readAll, failed, reads } = world(addresses)
  for (const address of addresses) set(`id-${address}`, ['A'])
  await readAll(signal)
  await Promise.all(addresses.map((address) => run(address)))
  assert.equal(reads, ['all'])
  failed.add('a')
  await Promise.all(addresses.map((address) => run(address)))
  const on = (machine: string) => addresses.filter((address) => at(address) === machine).length
  assert.equal([on('A'), on('B') + on('C')], [0, 40])
  assert.ok(Math.abs(on('B') - on('C')) <= 2, `B ${on('B')}, C ${on('C')}`)
})

test('the Services that claim a provisioned address share its pace, each in its namespace', () => {
  const address = '203.0.113.1'
  const claimed = makeRecord({ phase: 'Bound', address })
  const unnamed = makeLot('office', { reclaimPolicy: 'Retain' }, { phase: 'Bound', address })
  const lot = { ...unnamed, metadata: { ...unnamed.metadata, uid: 'lot-1' } }
  assert.equal(tenancyIn([claimed, lot], address), { namespace: 'default', record: 'lot-1' })
  assert.equal(tenancyIn([claimed], address), { namespace: 'default', record: 'record-1' })
  assert.equal(tenancyIn([claimed, lot], '203.0.113.2'), { namespace: undefined, record: undefined })
})

test.run()
