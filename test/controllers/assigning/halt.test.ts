// When an address is left alone: while another cluster uses our id, after a release, and where a list is too old.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { world } from './world.ts'

const signal = new AbortController().signal

test('while another cluster uses our id nothing is moved, nothing is asked, and the Service says why once', async () => {
  const of = world()
  await of.run()
  of.failed.add('a')
  of.halt({ problem: 'it stays where it is: another cluster uses the id' })
  await of.clock.pass(10_000)
  const reads = of.reads.length
  for (let n = 0; n < 3; n += 1) assert.ok((await of.run()).againInMs)
  assert.equal([of.at(), of.reads.length], ['A', reads])
  assert.equal(
    of.problems.map(({ message }) => message),
    ['address 203.0.113.1: it stays where it is: another cluster uses the id'],
  )
  of.halt(undefined)
  await of.run()
  assert.is(of.at(), 'B')
})

test('a leader that has not looked for another cluster yet frees and moves nothing, and says nothing', async () => {
  const of = world()
  await of.run()
  of.halt({})
  of.shown.clear()
  of.releasing.add('203.0.113.1')
  assert.ok((await of.run()).againInMs)
  assert.equal([of.at(), of.problems], ['A', []])
  of.halt(undefined)
  await of.run()
  assert.is(of.at(), '')
})

test('an address that the project keeps is not taken from others who assign it after we freed it', async () => {
  const of = world()
  await of.run()
  of.shown.clear()
  await of.clock.pass(20_000)
  assert.ok(of.free('203.0.113.1'))
  await of.run()
  assert.is(of.free('203.0.113.1'), undefined)
  of.set('id-203.0.113.1', ['B'])
  await of.clock.pass(300_000)
  await of.readAll(signal)
  await of.run()
  assert.equal([of.at(), of.writes.length], ['B', 2])
})

test('a list that began before a move does not undo what we know of it', async () => {
  const of = world()
  await of.run()
  of.failed.add('a')
  const late = of.lateList()
  const reading = of.readAll(signal)
  await of.clock.pass(1)
  await of.run()
  late()
  await reading
  await of.run()
  assert.equal([of.at(), of.writes.length], ['B', 2])
})

test.run()
