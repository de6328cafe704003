import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { boundToRequest, currentRequestId, forRequest, shortRequestId } from '../../lib/request-id.ts'

test('work that a request starts runs for it, however long that takes', async () => {
  const seen = forRequest('a', async () => {
    await sleep(1)
    return currentRequestId()
  })
  assert.is(currentRequestId(), undefined)
  assert.is(await seen, 'a')
})

test('work for no request runs for none, wherever it is started', () => {
  assert.is(
    forRequest('a', () => forRequest(undefined, currentRequestId)),
    undefined,
  )
})

test('work that a queue starts later runs for the request that queued it', () => {
  const bound = forRequest('a', () => boundToRequest(currentRequestId))
  assert.is(forRequest('b', bound), 'a')
  assert.is(bound(), 'a')
})

test('people see the first eight characters', () => {
  assert.is(shortRequestId('1b2c3d4e-5f60-4711-8aaa-000000000000'), '1b2c3d4e')
})

test.run()
