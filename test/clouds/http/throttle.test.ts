import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { makeThrottle } from '../../../clouds/http/throttle.ts'
import { failureOf, neverAborted } from '../scripted-server.ts'

/** Takes turns one after the other, and returns how long each waited. */
async function waits(throttle: ReturnType<typeof makeThrottle>, count: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < count; n += 1) {
    const fromMs = performance.now()
    await throttle.turn(0, neverAborted)
    times.push(performance.now() - fromMs)
  }
  return times
}

test('nothing waits before the first refusal, and after calls were accepted again while nobody waited', async () => {
  const throttle = makeThrottle()
  assert.ok(Math.min(...(await waits(throttle, 3))) < 50)
  throttle.tell('refused', performance.now())
  throttle.tell('accepted', performance.now())
  assert.ok(Math.min(...(await waits(throttle, 3))) < 50)
})

test('after a refusal calls begin one after the other, with a pause that grows with each further refusal', async () => {
  const throttle = makeThrottle()
  throttle.tell('refused', performance.now())
  assert.ok((await waits(throttle, 2)).every((ms) => ms > 90))
  throttle.tell('refused', performance.now())
  assert.ok((await waits(throttle, 2)).every((ms) => ms > 190))
})

test('a call whose caller gives up leaves its place, and the next has its turn', async () => {
  const throttle = makeThrottle()
  throttle.tell('refused', performance.now())
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
  for (let n = 0; n < 100; n += 1) throttle.tell('refused', beganAtMs)
  for (let n = 0; n < 2; n += 1) slowedTwice.tell('refused', performance.now())
  const order: string[] = []
  const [[first = 0]] = await Promise.all([
    waits(throttle, 1).finally(() => order.push('once')),
    waits(slowedTwice, 1).finally(() => order.push('twice')),
  ])
  assert.ok(first > 90, `${first} ms`)
  assert.equal(order, ['once', 'twice'])
})

test('the highest priority has the next turn, and a caller who leaves has none', async () => {
  const throttle = makeThrottle()
  throttle.tell('refused', performance.now())
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

test.run()
