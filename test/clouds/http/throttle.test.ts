import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { makeThrottle, movePriority } from '../../../clouds/http/throttle.ts'
import { failureOf, neverAborted } from '../scripted-server.ts'

/** Takes turns one after the other, and returns how long each waited. */
async function waits(throttle: ReturnType<typeof makeThrottle>, count: number, priority = 0): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < count; n += 1) {
    const fromMs = performance.now()
    await throttle.turn(priority, neverAborted)
    times.push(performance.now() - fromMs)
  }
  return times
}

/** A call is refused, and then two have their turns: how long after the refusal each of them begins. */
async function turnsAfterRefusal(throttle: ReturnType<typeof makeThrottle>): Promise<[first: number, second: number]> {
  const fromMs = performance.now()
  throttle.noteResult('refused', fromMs)
  const next = async () => {
    await throttle.turn(0, neverAborted)
    return performance.now() - fromMs
  }
  return [await next(), await next()]
}

test('nothing waits before the first refusal, and after calls were accepted again while nobody waited', async () => {
  const throttle = makeThrottle()
  assert.ok(Math.min(...(await waits(throttle, 3))) < 50)
  throttle.noteResult('refused', performance.now())
  throttle.noteResult('accepted', performance.now())
  assert.ok(Math.min(...(await waits(throttle, 3))) < 50)
})

test('after a refusal calls begin one after the other, with a pause that grows with each further refusal', async () => {
  const throttle = makeThrottle()
  for (const pauseMs of [100, 200]) {
    const [first, second] = await turnsAfterRefusal(throttle)
    assert.ok(first > pauseMs - 10 && second > 2 * pauseMs - 10, `${first} and ${second} ms`)
  }
})

test('a refusal also holds the call whose turn is about to come', async () => {
  const throttle = makeThrottle()
  throttle.noteResult('refused', performance.now())
  const next = waits(throttle, 1)
  throttle.noteResult('refused', performance.now())
  const [waitedMs = 0] = await next
  assert.ok(waitedMs > 190, `${waitedMs} ms`)
})

test('a call whose caller gives up leaves its place, and the next has its turn', async () => {
  const throttle = makeThrottle()
  throttle.noteResult('refused', performance.now())
  const caller = new AbortController()
  const turns = [throttle.turn(0, caller.signal), throttle.turn(0, caller.signal), throttle.turn(0, neverAborted)]
  caller.abort(new Error('nobody waits for it'))
  assert.equal(await Promise.all(turns.slice(0, 2).map(failureOf)), Array(2).fill(caller.signal.reason))
  await turns[2]
})

test('refusals of calls that began together slow the calls down once', async () => {
  const [throttle, slowedTwice] = [makeThrottle(), makeThrottle()]
  const beganAtMs = performance.now()
  await waits(throttle, 1)
  for (let n = 0; n < 100; n += 1) throttle.noteResult('refused', beganAtMs)
  for (let n = 0; n < 2; n += 1) slowedTwice.noteResult('refused', performance.now())
  const began: { name: string; atMs: number }[] = []
  const begin = async (name: string, slowed: typeof throttle) => {
    await slowed.turn(0, neverAborted)
    began.push({ name, atMs: performance.now() })
  }
  await Promise.all([begin('once', throttle), begin('twice', slowedTwice)])
  assert.equal(
    began.map(({ name }) => name),
    ['once', 'twice'],
  )
  assert.ok((began[0]?.atMs ?? 0) - beganAtMs > 90)
})

test('the highest priority has the next turn, and a caller who leaves has none', async () => {
  const throttle = makeThrottle()
  throttle.noteResult('refused', performance.now())
  const order: string[] = []
  const leaving = new AbortController()
  const all = [
    throttle.turn(0, neverAborted).then(() => order.push('first')),
    throttle.turn(0, neverAborted).then(() => order.push('read')),
    throttle.turn(2, neverAborted).then(() => order.push('move')),
  ]
  const left = failureOf(throttle.turn(2, leaving.signal))
  leaving.abort(new Error('left'))
  await Promise.all(all)
  assert.equal(order, ['first', 'move', 'read'])
  assert.match(String(await left), 'left')
})

test('the last fifth of the limit is for moves: other calls begin one after the other until more are left', async () => {
  const throttle = makeThrottle()
  throttle.noteQuota({ left: 720, limit: 3_600 })
  assert.ok(Math.max(...(await waits(throttle, 3))) < 2_000, 'a fifth is left')
  throttle.noteQuota({ left: 719, limit: 3_600 })
  const began: string[] = []
  const turn = (name: string, priority: number) =>
    throttle.turn(priority, neverAborted).then(() => void began.push(name))
  const others = [turn('read', 0), turn('second read', 0), turn('write', 1)]
  for (const name of ['move', 'second move']) await turn(name, movePriority)
  assert.equal(began, ['move', 'second move'])
  await others[0]
  assert.equal(began, ['move', 'second move', 'read'])
  throttle.noteQuota({ left: 3_000, limit: 3_600 })
  await Promise.all(others)
  assert.equal(began.slice(3), ['write', 'second read'])
  assert.ok(Math.max(...(await waits(throttle, 3))) < 2_000, 'more are left again')
})

test('the pace of the provider is kept after a refusal until more calls are left than wait for their turn', async () => {
  const throttle = makeThrottle()
  throttle.noteQuota({ left: 0, limit: 3_600, paceMs: 300 })
  const fromMs = performance.now()
  throttle.noteResult('refused', fromMs)
  throttle.noteResult('accepted', fromMs)
  const began: number[] = []
  const turn = async () => {
    await throttle.turn(movePriority, neverAborted)
    throttle.noteResult('accepted', performance.now())
    began.push(performance.now() - fromMs)
  }
  await Promise.all([turn(), turn()])
  await turn()
  began.forEach((ms, n) => assert.ok(ms > 300 * (n + 1) - 10, `turn ${n} after ${ms} ms`))
  throttle.noteQuota({ left: 1, limit: 3_600, paceMs: 300 })
  throttle.noteResult('accepted', performance.now())
  assert.ok(Math.min(...(await waits(throttle, 3, movePriority))) < 50)
})

test.run()
