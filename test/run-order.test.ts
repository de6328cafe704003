import { globSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { longestFirst, niceOf, runQueue, timelyParts } from './run-order.ts'
import type { Run } from './selection.ts'

const timely = ['rig/control-planes/a.test.ts', 'matrix/control-plane.test.ts', 'whole/rolling.test.ts']
const patient = ['whole/cherry.test.ts', 'matrix/create.test.ts']
const runsOf = (files: string[]): Run[] => files.map((file) => ({ file }))

test('API servers of patient files leave the processors to timely files and to those that need none', () => {
  assert.equal(runsOf(timely).map(niceOf), [0, 0, 0])
  assert.equal(runsOf(patient).map(niceOf), [5, 5])
  assert.equal(runsOf(['ledger/claim.test.ts']).map(niceOf), [0])
})

test('files with an API server start before those without one', () => {
  const files = longestFirst(runsOf(['ledger/claim.test.ts', 'whole/unheard-of.test.ts'])).map(({ file }) => file)
  assert.equal(files, ['whole/unheard-of.test.ts', 'ledger/claim.test.ts'])
})

test('two workers begin no second timely run before the first is done, as long as there are others', () => {
  const queue = runQueue(runsOf([...timely, ...patient]), 1)
  const first = queue.next()
  assert.is(first?.file, timely[0])
  assert.equal([queue.next()?.file, queue.next()?.file], patient)
  assert.is(queue.next()?.file, timely[1], 'nothing else is left')
  assert.ok(first)
  queue.done(first)
  assert.is(queue.next()?.file, timely[2])
  assert.is(queue.next(), undefined)
})

test('a filler begins with the shortest run, and leaves those with an API server to the others', () => {
  const queue = runQueue(longestFirst(runsOf([...patient, 'ledger/claim.test.ts', 'clouds/hetzner/client.test.ts'])), 1)
  assert.is(queue.nextFiller()?.file, 'ledger/claim.test.ts')
  assert.is(queue.nextFiller()?.file, 'clouds/hetzner/client.test.ts')
  assert.is(queue.nextFiller(), undefined)
  assert.equal(new Set([queue.next()?.file, queue.next()?.file]), new Set(patient))
  assert.is(queue.next(), undefined)
})

test('every part that makes a file timely is in the path of one', () => {
  const all = globSync('**/*.test.ts', { cwd: import.meta.dirname })
  for (const part of timelyParts)
    assert.ok(
      all.some((file) => file.includes(part)),
      part,
    )
})

test.run()
