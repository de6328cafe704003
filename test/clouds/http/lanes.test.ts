import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ScheduleCall, type Lane, makeScheduler, type Pace } from '../../../clouds/http/lanes.ts'
import { failureOf, neverAborted } from '../scripted-server.ts'

/** Work that begins when its turn comes and ends when the test tells it to. */
function gates(schedule: ScheduleCall) {
  const begun: string[] = []
  const open = new Map<string, () => void>()
  return {
    begun,
    add: (lane: Lane, name: string, signal = neverAborted) => {
      const work = () => {
        begun.push(name)
        return new Promise<string>((end) => open.set(name, () => end(name)))
      }
      return schedule(lane, work, { signal, abortError: (reason) => new Error(`left: ${String(reason)}`) })
    },
    end: async (name: string) => {
      open.get(name)?.()
      await settled()
    },
  }
}

const settled = () => new Promise((done) => setTimeout(done, 5))

test('never more calls are in flight than allowed', async () => {
  const { add, begun, end } = gates(makeScheduler({ inFlight: 2 }))
  const all = ['a', 'b', 'c'].map((name) => add('write', name))
  await settled()
  assert.equal(begun, ['a', 'b'])
  await end('a')
  assert.equal(begun, ['a', 'b', 'c'])
  await end('b')
  await end('c')
  assert.equal(await Promise.all(all), ['a', 'b', 'c'])
})

test('a move goes before a write, a write before a read', async () => {
  const { add, begun, end } = gates(makeScheduler({ inFlight: 1 }))
  const all = [add('write', 'first'), add('read', 'read'), add('write', 'write'), add('move', 'move')]
  await settled()
  for (const name of ['first', 'move', 'write', 'read']) await end(name)
  await Promise.all(all)
  assert.equal(begun, ['first', 'move', 'write', 'read'])
})

test('a move waits for no other call, and never begins for a caller who has left', async () => {
  const { add, begun, end } = gates(makeScheduler({ inFlight: 1 }))
  const all = [add('write', 'hangs'), add('move', 'move')]
  const left = await failureOf(add('move', 'late', AbortSignal.abort('too late')))
  assert.match(String(left), 'left: too late')
  await settled()
  assert.equal(begun, ['hangs', 'move'])
  for (const name of ['move', 'hangs']) await end(name)
  await Promise.all(all)
})

test('slow reads leave a place for a write', async () => {
  const { add, begun, end } = gates(makeScheduler({ inFlight: 3 }))
  const all = [...['r1', 'r2', 'r3', 'r4'].map((name) => add('read', name)), add('write', 'w')]
  await settled()
  assert.equal(begun, ['r1', 'r2', 'w'])
  for (const name of ['r1', 'r2', 'w', 'r3', 'r4']) await end(name)
  assert.is((await Promise.all(all)).length, 5)
})

test('reserves that hang leave a place for reads and for other writes', async () => {
  const { add, begun, end } = gates(makeScheduler({ inFlight: 3 }))
  const all = [...['a', 'b', 'c'].map((name) => add('reserve', name)), add('write', 'w'), add('read', 'r')]
  await settled()
  assert.equal(begun, ['a', 'b', 'w'])
  await end('w')
  assert.equal(begun, ['a', 'b', 'w', 'r'])
  for (const name of ['r', 'a', 'b', 'c']) await end(name)
  assert.is((await Promise.all(all)).length, 5)
})

for (const lane of ['read', 'write', 'reserve'] as const)
  test(`a ${lane} whose caller gives up leaves the queue at once`, async () => {
    const { add, begun, end } = gates(makeScheduler({ inFlight: 1 }))
    const caller = new AbortController()
    const busy = add(lane, 'busy')
    const waiting = add(lane, 'waiting', caller.signal)
    const next = add(lane, 'next')
    caller.abort('deadline')
    assert.match(String(await failureOf(waiting)), 'left: deadline')
    await end('busy')
    await end('next')
    await Promise.all([busy, next])
    assert.equal(begun, ['busy', 'next'])
  })

test('a caller that has already given up is rejected', async () => {
  const { add, begun } = gates(makeScheduler({ inFlight: 1 }))
  assert.match(String(await failureOf(add('write', 'late', AbortSignal.abort('over')))), 'left: over')
  assert.equal(begun, [])
})

test('the queue does not end work that has begun when its caller gives up', async () => {
  const { add, end } = gates(makeScheduler({ inFlight: 1 }))
  const caller = new AbortController()
  const work = add('read', 'work', caller.signal)
  await settled()
  caller.abort('deadline')
  await end('work')
  assert.is(await work, 'work')
})

test('no more calls begin in a span of time than the provider allows', async () => {
  const schedule = makeScheduler({ inFlight: 10, rate: { calls: 2, perMs: 100 } })
  const begunAt: number[] = []
  const note = async () => void begunAt.push(performance.now())
  const wait = { signal: neverAborted, abortError: () => new Error('left') }
  const fromMs = performance.now()
  await Promise.all([1, 2, 3, 4, 5].map(() => schedule('write', note, wait)))
  const [, , third = 0, , fifth = 0] = begunAt
  assert.ok(third - fromMs >= 90, `third after ${third - fromMs} ms`)
  assert.ok(fifth - fromMs >= 190, `fifth after ${fifth - fromMs} ms`)
})

test('a move goes first also where calls wait for the provider', async () => {
  const schedule = makeScheduler({ inFlight: 10, rate: { calls: 1, perMs: 30 } })
  const begun: string[] = []
  const wait = { signal: neverAborted, abortError: () => new Error('left') }
  const add = (lane: Lane, name: string) => schedule(lane, async () => void begun.push(name), wait)
  await Promise.all([add('write', 'first'), add('read', 'read'), add('write', 'write'), add('move', 'move')])
  assert.equal(begun, ['first', 'move', 'write', 'read'])
})

test('a call that is made once more counts as one', async () => {
  const schedule = makeScheduler({ inFlight: 10, rate: { calls: 2, perMs: 100 } })
  const begunAt: number[] = []
  const work = async (pace: Pace) => {
    begunAt.push(performance.now())
    await pace(neverAborted)
    begunAt.push(performance.now())
  }
  const wait = { signal: neverAborted, abortError: () => new Error('left') }
  const fromMs = performance.now()
  await Promise.all([1, 2].map(() => schedule('read', work, wait)))
  const [, , third = 0] = begunAt
  assert.is(begunAt.length, 4)
  assert.ok(third - fromMs >= 90, `third after ${third - fromMs} ms`)
})

test('a call that waits to be repeated can be canceled', async () => {
  const schedule = makeScheduler({ inFlight: 10, rate: { calls: 1, perMs: 60_000 } })
  const caller = new AbortController()
  const wait = { signal: caller.signal, abortError: (reason: unknown) => new Error(`left: ${String(reason)}`) }
  const begun = Promise.withResolvers<void>()
  const ends = new AbortController()
  const again = schedule('read', async (pace) => (begun.resolve(), pace(ends.signal)), wait)
  await begun.promise
  const notBegun = schedule('write', () => Promise.reject(new Error('begun')), wait)
  await settled()
  ends.abort(new Error('deadline'))
  caller.abort('over')
  assert.match(String(await failureOf(again)), 'deadline')
  assert.match(String(await failureOf(notBegun)), 'left: over')
})

test.run()
