import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { mapAll } from '../../lib/map-all.ts'
import { failureOf } from '../clouds/scripted-server.ts'

test('the results come in the order of the items, and only so many run at once', async () => {
  let running = 0
  let most = 0
  const work = async (ms: number) => {
    running += 1
    most = Math.max(most, running)
    await sleep(ms)
    running -= 1
    return ms
  }
  assert.equal([await mapAll([5, 1, 3, 2], work, 2), most], [[5, 1, 3, 2], 2])
})

const failing = (done: number[]) => async (item: number) => {
  if (item < 0) throw new Error(`bad ${item}`)
  done.push(item)
}

test('an error stops no other item, and is thrown as it is', async () => {
  const done: number[] = []
  const error = await failureOf(mapAll([-1, 2, 3], failing(done), 1))
  assert.equal([done, String(error)], [[2, 3], 'Error: bad -1'])
})

test('several errors are thrown as one that names them all', async () => {
  const error = await failureOf(mapAll([-1, 2, -3], failing([]), 8))
  assert.instance(error, AggregateError)
  assert.equal(
    [(error as AggregateError).errors.length, String(error)],
    [2, 'AggregateError: 2 of 3 failed: bad -1; bad -3'],
  )
})

test.run()
