// Which machines count as refused after moves that failed.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError, type Fault } from '../../../clouds/ports/cloud.ts'
import { mover } from '../../../controllers/moves/mover.ts'
import { noProbes } from '../../../controllers/moves/probe-history.ts'
import { silentLog } from '../../fakes/log.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

type Result = Fault | 'done' | 'time-out'

const address = { id: 'r1', address: '203.0.113.1', machines: [] }
const writeMs = () => 2_000

/** A mover whose moves end with these results, one after another. */
function moverOf(...results: Result[]) {
  const clock = fakeClock()
  const moving = mover({
    what: 'the address',
    assign(_target, options) {
      if (options.writeMs() === 0) throw new CloudError('it may not write', { fault: 'conflict', outcome: 'nothing' })
      const result = results.shift()
      if (result === 'done') return Promise.resolve()
      if (result === undefined || result === 'time-out') throw new Error('no answer')
      throw new CloudError(`${result} again`, { fault: result, outcome: 'unknown' })
    },
    cooldownMs: 60_000,
    clock,
    log: silentLog,
    onAttempt: () => {},
  })
  const attempt = (machine: string, may = writeMs, from: Parameters<typeof moving.attempt>[1] = address) => {
    const to = { name: machine.toLowerCase(), machine, leaving: 0, probes: noProbes }
    return moving.attempt({ do: 'move', to, reason: 'failed', why: 'it failed' }, from, may)
  }
  return { ...moving, attempt, clock, names: () => [...moving.refused().keys()] }
}

const twice: [result: Result, refused: string[]][] = [
  ['unavailable', ['A']],
  ['conflict', ['A']],
  ['quota', ['A']],
  ['time-out', ['A']],
  ['auth', []],
  ['rate-limit', []],
]
for (const [result, refused] of twice)
  test(`two moves in a row that end with ${result}: ${refused.length > 0 ? 'the machine is passed over' : 'every machine would get that'}`, async () => {
    const { attempt, names } = moverOf(result, result)
    await attempt('A')
    assert.equal(names(), [], 'the first failure is often a lost answer')
    await attempt('A')
    assert.equal(names(), refused)
  })

for (const [id, from] of [
  ['r1', ['X']],
  ['r2', []],
] as const)
  test(`after half a move, an address at no machine of reservation ${id} comes from ${from.join() || 'none'}`, async () => {
    const moving = moverOf('unavailable', 'done')
    await moving.attempt('A', writeMs, { ...address, machines: ['X'] })
    await moving.attempt('A', writeMs, { ...address, id })
    assert.equal(moving.tried()?.from.machines, from)
  })

test('a machine that the provider refuses for good is passed over at once, and the next one need not wait', async () => {
  const moving = moverOf('invalid')
  await moving.attempt('A')
  assert.equal([moving.names(), moving.pause('failed')], [['A'], undefined])
  assert.is(moving.refused().get('A')?.isCertain, true)
})

test('a failure at another machine in between does not end a series, but a successful move does', async () => {
  const moving = moverOf('conflict', 'conflict', 'conflict', 'done', 'conflict', 'conflict')
  const { attempt, names } = moving
  await attempt('A')
  await attempt('B')
  await attempt('A')
  assert.equal(names(), ['A'])
  await attempt('A')
  moving.settle()
  assert.equal(names(), [])
  await attempt('A')
  // Nobody heard of it, and the cloud shows it.
  moving.settle()
  await attempt('A')
  assert.equal(names(), [])
})

test('moves that we may not complete say nothing about the machine', async () => {
  const { attempt, names } = moverOf()
  for (let n = 0; n < 3; n += 1) await attempt('A', () => 0)
  assert.equal(names(), [])
})

test('a machine on which moves failed is tried after others, and is forgotten after a while', async () => {
  const moving = moverOf('unavailable', 'unavailable')
  await moving.attempt('A')
  await moving.attempt('A')
  const { error, isCertain, againInMs = 0 } = moving.refused().get('A') ?? {}
  assert.equal([error, isCertain], ['unavailable again', false])
  assert.ok(againInMs > 0 && againInMs <= 1_000, `${againInMs} ms`)
  await moving.clock.pass(6 * 60_000)
  assert.equal(moving.names(), [])
})

test.run()
