import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { strangerGraceMs } from '../../../controllers/moves/move-plan.ts'
import { type ServerState, guardedWorld } from './world.ts'

type World = ReturnType<typeof guardedWorld>

/** A test in a world whose guardian has led for a while. */
function inWorld(
  title: string,
  run: (world: World) => Promise<void>,
  options?: Parameters<typeof guardedWorld>[0],
): void {
  test(title, async () => {
    const world = guardedWorld(options)
    await world.start()
    await run(world)
    await world.stop()
    assert.is(world.cloud.most(), 1, 'two machines had the address')
  })
}

const outages: [state: ServerState, withinMs: number][] = [
  ['refuses', 2_800],
  ['broken', 2_800],
  ['hangs', 7_000],
]
for (const [state, withinMs] of outages)
  for (const phaseMs of [0, 250, 500, 750, 990])
    inWorld(
      `an API server that ${state} loses the address within ${withinMs} ms, ${phaseMs} ms after a probe`,
      async (world) => {
        await world.clock.pass(phaseMs)
        world.servers.a = state
        assert.ok((await world.msUntilHeldBy('b')) <= withinMs)
        await world.clock.pass(60_000)
        assert.equal(world.moves, ['failed -> b'])
      },
    )

inWorld('a cloud that takes more than 2 s for each call moves the address all the same', async (world) => {
  world.cloud.setDelay(2_100)
  world.servers.a = 'refuses'
  assert.ok((await world.msUntilHeldBy('b')) <= 15_000)
  assert.is(world.cloud.writes(), 2)
})

for (const state of ['slow', 'blinks'] as const)
  inWorld(`in ten minutes nothing moves while every API server ${state}`, async (world) => {
    for (const name of ['a', 'b', 'c'] as const) world.servers[name] = state
    await world.clock.pass(600_000)
    assert.is(world.cloud.writes(), 0)
  })

inWorld('in ten minutes nothing moves while every second answer of every API server is an error', async (world) => {
  for (const name of ['a', 'b', 'c'] as const) world.servers[name] = 'flaps'
  await world.clock.pass(600_000)
  assert.is(world.cloud.writes(), 0)
})

inWorld('in ten minutes nothing moves while the holder alone fails every other second', async (world) => {
  world.servers.a = 'alternates'
  await world.clock.pass(600_000)
  assert.is(world.cloud.writes(), 0)
})

inWorld('while nothing fails the provider is read once a minute', async (world) => {
  await world.clock.pass(600_000)
  assert.ok(world.cloud.calls.length <= 11, `${world.cloud.calls.length} calls`)
  assert.equal([...new Set(world.cloud.calls)], ['read'])
})

inWorld('nothing moves while all are bad, and the first that answers well gets the address', async (world) => {
  for (const name of ['a', 'b', 'c'] as const) world.servers[name] = 'refuses'
  await world.clock.pass(30_000)
  assert.is(world.cloud.writes(), 0)
  assert.match(world.guard.problem() ?? '', 'no other control-plane node is healthy')
  world.servers.c = 'well'
  assert.ok((await world.msUntilHeldBy('c')) < 5_000)
})

inWorld('a holder that is well again gets the address back only if it is needed', async (world) => {
  world.servers.a = 'refuses'
  await world.msUntilHeldBy('b')
  world.servers.a = 'well'
  await world.clock.pass(300_000)
  assert.equal(world.moves, ['failed -> b'])
  world.servers.b = 'refuses'
  await world.msUntilHeldBy('a')
  assert.equal(world.moves, ['failed -> b', 'failed -> a'])
})

inWorld('each new holder dies: the address runs away at first, then ever slower', async (world) => {
  for (let n = 0; n < 600; n++) {
    const holder = world.holders()[0]
    for (const name of ['a', 'b', 'c'] as const) world.servers[name] = name === holder ? 'refuses' : 'well'
    await world.clock.pass(1_000)
  }
  assert.ok(world.moves.length >= 3 && world.moves.length <= 12, `${world.moves.length} moves`)
})

inWorld(
  'a cordoned holder hands the address over, and does not get it back while the other is cordoned too',
  async (world) => {
    world.leaving.a = 2
    assert.ok((await world.msUntilHeldBy('b')) <= 3_000)
    world.leaving.b = 2
    assert.ok((await world.msUntilHeldBy('c')) <= 3_000)
    world.leaving.c = 2
    await world.clock.pass(120_000)
    assert.equal(world.moves, ['leaving -> b', 'leaving -> c'])
  },
)

inWorld('an answer that was lost is looked for, and nothing is done twice', async (world) => {
  world.cloud.faults.unassign = ['lost']
  world.cloud.faults.assign = ['lost']
  world.servers.a = 'refuses'
  await world.msUntilHeldBy('b')
  await world.clock.pass(30_000)
  assert.is(world.cloud.writes(), 2)
  assert.equal(world.holders(), ['b'])
  assert.is(world.moves.length, 1)
})

inWorld('a move whose second write failed at first began where the whole one did', async (world) => {
  world.cloud.faults.assign = ['refused', 'fails']
  world.servers.a = 'refuses'
  await world.clock.pass(30_000)
  const [move] = world.moved
  assert.equal([world.moved.length, move?.reason, move?.from.machines], [1, 'failed', ['machine-a']])
  assert.match(move?.why ?? '', /^3 probes of the API server on a failed/)
})

inWorld('after half a move another guardian assigns the address at once', async (world) => {
  world.cloud.assigned.length = 0
  world.servers.a = 'refuses'
  // The next guardian that leads looks at the cloud first.
  const other = guardedWorld()
  await other.clock.pass(15_000)
  other.cloud.assigned.length = 0
  other.servers.a = 'refuses'
  await other.clock.pass(2_000)
  other.lead()
  assert.ok((await other.msUntilHeldBy('b')) <= 1_000)
  await other.stop()
})

inWorld('writes that fail are repeated less and less often until one is carried out', async (world) => {
  world.cloud.faults.assign = Array.from({ length: 8 }, () => 'fails')
  world.servers.a = 'refuses'
  await world.clock.pass(40_000)
  assert.ok(world.cloud.writes() <= 10, `${world.cloud.writes()} writes`)
  await world.clock.pass(60_000)
  assert.match(world.holders().join(), /^[bc]$/)
})

inWorld('a machine that the provider refuses is passed over', async (world) => {
  world.cloud.faults.assign = ['refused']
  world.servers.a = 'refuses'
  assert.ok((await world.msUntilHeldBy('c')) <= 8_000)
})

inWorld('a machine on which moves fail is passed over at the second time', async (world) => {
  world.cloud.faults.assign = ['fails', 'fails']
  world.servers.a = 'refuses'
  assert.ok((await world.msUntilHeldBy('c')) <= 8_000)
})

inWorld('while the address is on no machine, assigning that fails is repeated less and less often', async (world) => {
  world.cloud.faults.assign = Array.from({ length: 40 }, () => 'fails')
  world.servers.a = 'refuses'
  await world.clock.pass(60_000)
  assert.equal(world.holders(), [])
  assert.ok(world.cloud.writes() <= 15, `${world.cloud.writes()} writes`)
  assert.ok(world.cloud.calls.length <= 60, `${world.cloud.calls.length} calls`)
  assert.match(world.guard.problem() ?? '', 'the last attempt failed: 500')
})

inWorld('a cloud that asks for a minute gets it, also while the address is on no machine', async (world) => {
  world.cloud.faults.assign = ['limited']
  world.servers.a = 'refuses'
  await world.clock.pass(50_000)
  assert.equal([world.holders(), world.cloud.writes()], [[], 2])
  assert.match(world.guard.problem() ?? '', 'the last attempt failed: 429; the next move waits')
  assert.ok((await world.msUntilHeldBy('b')) <= 15_000)
  assert.is(world.cloud.writes(), 3)
})

inWorld(
  'machines that the provider refused for a moment are tried again, and people learn of the refusal',
  async (world) => {
    world.cloud.faults.assign = Array.from({ length: 6 }, () => 'refused')
    world.servers.a = 'refuses'
    const expected = /the provider refused [bc]: it is in another metro; the next move waits/
    for (let ms = 0; ms < 10_000 && !expected.test(world.guard.problem() ?? ''); ms += 50) await world.clock.pass(50)
    assert.match(world.guard.problem() ?? '', expected)
    await world.clock.pass(40_000)
    assert.is(world.holders().length, 1)
    assert.is(world.cloud.writes(), 8)
  },
)

inWorld(
  'machines that the provider refuses are asked for seldom, and one has the address soon after the provider agrees',
  async (world) => {
    world.cloud.faults.assign = Array.from({ length: 100 }, () => 'refused')
    world.servers.a = 'refuses'
    await world.clock.pass(120_000)
    assert.ok(world.cloud.writes() <= 42, `${world.cloud.writes()} writes`)
    world.cloud.faults.assign = []
    world.servers.a = 'well'
    // The former holder, or a refused machine whose next try came first.
    for (let ms = 0; ms < 3_000 && world.holders().length === 0; ms += 50) await world.clock.pass(50)
    assert.is(world.holders().length, 1)
  },
)

inWorld('nothing is decided from a cloud that cannot be read', async (world) => {
  world.cloud.faults.read = Array.from({ length: 4 }, () => 'fails')
  world.servers.a = 'refuses'
  await world.clock.pass(5_000)
  assert.is(world.cloud.writes(), 0)
  assert.match(world.guard.problem() ?? '', 'the provider could not be read: the provider is broken')
  assert.ok((await world.msUntilHeldBy('b', 120_000)) < 120_000)
})

inWorld('no write begins when the lease could end before it does', async (world) => {
  world.setLeaseLeft(() => 1_000)
  world.servers.a = 'refuses'
  await world.clock.pass(20_000)
  assert.is(world.cloud.writes(), 0)
  world.setLeaseLeft(() => 2_500)
  assert.ok((await world.msUntilHeldBy('b')) < 20_000)
})

inWorld('a lease that is lost between the two writes of a move ends it', async (world) => {
  world.setLeaseLeft(() => (world.cloud.writes() === 0 ? 3_000 : 0))
  world.servers.a = 'refuses'
  await world.clock.pass(20_000)
  assert.equal([world.cloud.writes(), world.holders()], [1, []])
})

inWorld('what a person moved to a good node by hand stays there', async (world) => {
  world.cloud.byHand('c')
  world.servers.a = 'refuses'
  await world.clock.pass(120_000)
  assert.equal([world.holders(), world.cloud.writes()], [['c'], 0])
})

inWorld('what a person moved to a machine that is no control plane comes back', async (world) => {
  world.cloud.byHand('x')
  assert.ok((await world.msUntilHeldBy('a', 120_000)) <= 75_000)
})

inWorld('what a person assigned to two machines is fixed', async (world) => {
  world.cloud.byHand('b', 'a')
  assert.ok((await world.msUntilHeldBy('a', 120_000)) <= 65_000)
  assert.equal(world.moves, ['several -> a'])
})

inWorld('what a person took from every machine gets its previous holder back', async (world) => {
  world.cloud.byHand()
  assert.ok((await world.msUntilHeldBy('a', 120_000)) <= 65_000)
})

inWorld('an address that no longer exists is reported, and never made', async (world) => {
  world.cloud.setGone(true)
  await world.clock.pass(130_000)
  assert.match(world.guard.problem() ?? '', 'no reservation of the project has the tag cp')
  assert.is(world.cloud.writes(), 0)
  world.cloud.setGone(false)
  await world.clock.pass(65_000)
  assert.is(world.guard.problem(), undefined)
})

const second = { id: 'r2', address: '203.0.113.2', machines: ['machine-b'] }

inWorld('a list that lacks the address disables nothing, and is repeated soon', async (world) => {
  world.cloud.setList(() => [])
  await world.clock.pass(61_000)
  assert.match(world.guard.problem() ?? '', "the provider's list lacks 203.0.113.1, although it exists")
  world.servers.a = 'refuses'
  assert.ok((await world.msUntilHeldBy('b')) <= 2_800)
  world.cloud.setList()
  await world.clock.pass(16_000)
  assert.is(world.guard.problem(), undefined)
})

inWorld('a second address with the tag is reported, and the first one is guarded all the same', async (world) => {
  world.cloud.setList((found) => [second, ...found])
  await world.clock.pass(61_000)
  const expected =
    '2 reservations have the tag cp (203.0.113.2, 203.0.113.1). Remove the tag from all but one; until then only'
  assert.is(world.guard.problem(), `${expected} 203.0.113.1 is guarded`)
  world.servers.a = 'refuses'
  assert.ok((await world.msUntilHeldBy('b')) <= 2_800)
})

inWorld('a tag that a person moved to another address moves the guard', async (world) => {
  world.cloud.setNamed(false)
  world.cloud.setList(() => [second])
  await world.clock.pass(61_000)
  assert.is(world.guard.problem(), undefined)
  assert.is(world.guard.holder()?.name, 'b')
})

inWorld('a tag that a person removed ends the guard', async (world) => {
  world.cloud.setNamed(false)
  world.cloud.setList(() => [])
  await world.clock.pass(61_000)
  assert.match(world.guard.problem() ?? '', 'no reservation of the project has the tag cp')
  world.servers.a = 'refuses'
  await world.clock.pass(60_000)
  assert.is(world.cloud.writes(), 0)
})

inWorld('a node that is no longer there loses the address', async (world) => {
  world.setPresent(['b', 'c'])
  const ms = await world.msUntilHeldBy('b')
  assert.ok(ms >= strangerGraceMs && ms <= 15_000, `${ms} ms after it was last seen`)
  assert.equal(world.moves, ['stranger -> b'])
})

inWorld('without any node nothing happens', async (world) => {
  world.setPresent([])
  await world.clock.pass(120_000)
  assert.is(world.cloud.writes(), 0)
})

for (const startMs of [4_000, 5_000])
  test(`a guardian that started ${startMs} ms ago moves the address as fast as one that leads for long`, async () => {
    const world = guardedWorld()
    // The other API servers begin to answer after the guardian.
    world.servers.b = 'refuses'
    world.servers.c = 'refuses'
    world.lead()
    await world.clock.pass(1_000)
    world.servers.b = 'well'
    world.servers.c = 'well'
    await world.clock.pass(startMs - 1_000)
    world.servers.a = 'refuses'
    assert.ok((await world.msUntilHeldBy('b')) <= 2_800)
    await world.stop()
  })

inWorld(
  'while nothing fails the guardian turns at each interval, and each server is probed as often',
  async (world) => {
    const before = [world.turns(), world.probes('a')]
    await world.clock.pass(60_000)
    assert.equal([world.turns() - before[0]!, world.probes('a') - before[1]!], [60, 60])
  },
)

test('a server that has never been good is probed often only while it answers', async () => {
  const world = guardedWorld()
  world.servers.b = 'refuses'
  await world.clock.pass(60_000)
  assert.ok(world.probes('b') <= 125, `${world.probes('b')} probes`)
  assert.ok(world.probes('a') <= 75, `${world.probes('a')} probes`)
  await world.stop()
})

test('the guardian on the holder lets another one lead, once a minute, and not while there is a problem', async () => {
  const world = guardedWorld({ ownNode: 'a' })
  world.lead()
  await world.clock.pass(2_000)
  assert.ok(world.isLeading(), 'no other node has answered often enough')
  await world.clock.pass(10_000)
  assert.not(world.isLeading())
  assert.is(world.guard.hesitationMs(), 1_500)
  world.lead()
  await world.clock.pass(40_000)
  assert.ok(world.isLeading(), 'nobody took the lease: it leads for a minute')
  world.servers.a = 'refuses'
  world.servers.b = 'refuses'
  world.servers.c = 'refuses'
  await world.clock.pass(30_000)
  assert.ok(world.isLeading())
  await world.stop()
})

test('the guardian on the holder continues to lead while it reports a problem, and lets another one lead after that', async () => {
  const world = guardedWorld({ ownNode: 'a' })
  for (const name of ['b', 'c'] as const) world.servers[name] = 'refuses'
  await world.start()
  world.cloud.setList((found) => [second, ...found])
  await world.clock.pass(61_000)
  for (const name of ['b', 'c'] as const) world.servers[name] = 'well'
  await world.clock.pass(30_000)
  assert.match(world.guard.problem() ?? '', '2 reservations have the tag cp')
  assert.ok(world.isLeading())
  world.cloud.setList()
  await world.clock.pass(30_000)
  assert.equal([world.guard.problem(), world.isLeading()], [undefined, false])
  await world.stop()
})

test('a guardian that leads again reads at once which machine another guardian has moved the address to', async () => {
  const world = guardedWorld({ ownNode: 'a' })
  world.lead()
  await world.clock.pass(15_000)
  assert.equal([world.isLeading(), world.guard.holder()?.name], [false, 'a'])
  world.cloud.byHand('c')
  world.lead()
  await world.clock.pass(500)
  assert.is(world.guard.holder()?.name, 'c')
  await world.stop()
})

test('a guardian that leads again does not report a move of another guardian as its own', async () => {
  const world = guardedWorld({ ownNode: 'c' })
  await world.start()
  world.cloud.faults.unassign = ['fails']
  world.servers.a = 'refuses'
  for (let ms = 0; ms < 5_000 && world.cloud.writes() === 0; ms += 50) await world.clock.pass(50)
  world.cloud.faults.read = Array.from({ length: 100 }, () => 'fails')
  while (world.isLeading()) await world.clock.pass(1_000)
  world.cloud.byHand('b')
  world.cloud.faults.read = []
  world.lead()
  // The pause after failed reads.
  await world.clock.pass(12_000)
  assert.equal([world.guard.holder()?.name, world.moves], ['b', []])
  await world.stop()
})

test('a guardian that has to stop while it reads the provider begins no move', async () => {
  const world = guardedWorld()
  await world.clock.pass(15_000)
  world.lead()
  await world.clock.pass(400)
  world.leaving.a = 2
  await world.stop()
  assert.equal(world.cloud.calls, ['read', 'read'])
})

test('an address at no machine has no holder, although a node has no machine either', async () => {
  const world = guardedWorld({ ownNode: 'c' })
  await world.start()
  world.nameless.add('c')
  world.cloud.faults.assign = Array.from({ length: 100 }, () => 'fails')
  world.servers.a = 'refuses'
  await world.clock.pass(10_000)
  assert.equal(world.holders(), [])
  assert.is(world.guard.holder(), undefined)
  await world.stop()
})

test('the guardian of the only node does not wait before it claims the lease', async () => {
  const world = guardedWorld({ ownNode: 'a' })
  await world.start()
  await world.clock.pass(12_000)
  assert.is(world.guard.hesitationMs(), 1_500)
  world.setPresent(['a'])
  assert.is(world.guard.hesitationMs(), 0)
  await world.stop()
})

test('a guardian that cannot read the provider lets another one lead, and leaves a free lease to others', async () => {
  const world = guardedWorld({ ownNode: 'b' })
  await world.start()
  world.cloud.faults.read = Array.from({ length: 100 }, () => 'fails')
  world.servers.a = 'refuses'
  await world.clock.pass(9_000)
  assert.ok(world.isLeading(), 'it may be a moment')
  await world.clock.pass(6_000)
  assert.not(world.isLeading())
  assert.is(world.guard.hesitationMs(), 1_500)
  await world.stop()
})

test('a cloud that nobody can read makes guardians alternate once a minute, and the problem stays', async () => {
  const world = guardedWorld({ ownNode: 'b' })
  world.cloud.faults.read = Array.from({ length: 1_000 }, () => 'fails')
  const leads: number[] = []
  for (let n = 0; n < 4; n++) {
    world.lead()
    const beganAtMs = world.clock.now()
    while (world.isLeading() && world.clock.now() - beganAtMs < 600_000) await world.clock.pass(1_000)
    leads.push(Math.round((world.clock.now() - beganAtMs) / 1_000))
    assert.match(world.guard.problem() ?? '', 'the provider could not be read')
    // Another one leads meanwhile.
    await world.clock.pass(10_000)
  }
  assert.ok(leads[0] !== undefined && leads[0] <= 15, leads.join())
  assert.ok(
    leads.slice(1).every((seconds) => seconds >= 49 && seconds <= 52),
    leads.join(),
  )
  await world.stop()
})

test('a guardian that reads the provider again claims a free lease at once', async () => {
  const world = guardedWorld({ ownNode: 'b' })
  world.cloud.faults.read = Array.from({ length: 100 }, () => 'fails')
  world.lead()
  await world.clock.pass(30_000)
  assert.equal([world.isLeading(), world.guard.hesitationMs()], [false, 1_500])
  world.cloud.faults.read = []
  world.lead()
  await world.clock.pass(1_000)
  assert.equal([world.isLeading(), world.guard.hesitationMs(), world.guard.problem()], [true, 0, undefined])
  await world.stop()
})

test('a guardian whose failed reads are long ago claims a free lease at once, and a failure begins again', async () => {
  const world = guardedWorld({ ownNode: 'b' })
  world.cloud.faults.read = Array.from({ length: 100 }, () => 'fails')
  world.lead()
  await world.clock.pass(30_000)
  assert.equal([world.isLeading(), world.guard.hesitationMs()], [false, 1_500])
  await world.clock.pass(600_000)
  assert.is(world.guard.hesitationMs(), 0)
  world.cloud.faults.read = ['fails']
  world.lead()
  await world.clock.pass(30_000)
  assert.ok(world.isLeading(), 'one failure made it blind')
  await world.stop()
})

test('one failed read before a move that is not needed any more is repeated, and makes nobody blind', async () => {
  const world = guardedWorld({ ownNode: 'b' })
  await world.start()
  world.cloud.faults.read = ['fails']
  world.servers.a = 'refuses'
  while (world.cloud.faults.read.length > 0) await world.clock.pass(50)
  world.servers.a = 'well'
  await world.clock.pass(5_000)
  assert.is(world.guard.problem(), undefined)
  await world.clock.pass(25_000)
  assert.equal([world.isLeading(), world.guard.hesitationMs(), world.moves], [true, 0, []])
  await world.stop()
})

test('a guardian that the provider asks to wait is not blind: the provider asks the others as well', async () => {
  const world = guardedWorld({ ownNode: 'b' })
  world.cloud.faults.read = ['limited', 'limited']
  world.lead()
  await world.clock.pass(100_000)
  assert.ok(world.isLeading())
  assert.match(world.guard.problem() ?? '', 'the provider could not be read: 429')
  await world.stop()
})

test('a guardian that cannot read the provider continues to lead where no other API server answers', async () => {
  const world = guardedWorld({ ownNode: 'b' })
  for (const name of ['a', 'c'] as const) world.servers[name] = 'refuses'
  world.cloud.faults.read = Array.from({ length: 100 }, () => 'fails')
  await world.start()
  await world.clock.pass(60_000)
  assert.ok(world.isLeading())
  await world.stop()
})

test('a guardian elsewhere claims a free lease at once', async () => {
  const world = guardedWorld({ ownNode: 'b' })
  await world.start()
  assert.is(world.guard.hesitationMs(), 0)
  assert.ok(world.isLeading())
  await world.stop()
})

inWorld('an address is called healthy in the log once a problem ends, and not before', async (world) => {
  const said = () => world.log.lines.filter(({ message }) => message === 'control-plane address is healthy').length
  assert.is(said(), 0)
  for (const name of ['a', 'b', 'c'] as const) world.servers[name] = 'refuses'
  await world.clock.pass(30_000)
  for (const name of ['a', 'b', 'c'] as const) world.servers[name] = 'well'
  await world.clock.pass(60_000)
  assert.is(said(), 1)
})

test.run()
