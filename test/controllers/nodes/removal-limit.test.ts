import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type RemovalLimit, removalLimit } from '../../../controllers/nodes/removal-limit.ts'

function makeLimit(max = 5) {
  const time = { ms: 0 }
  return { time, limit: removalLimit({ max, now: () => time.ms }) }
}

const addMissing = (limit: RemovalLimit, ...names: string[]) => {
  for (const name of names) limit.recordMissing({ name, uid: name })
}

test('a node counts as missing from the first time on', () => {
  const { limit, time } = makeLimit()
  assert.is(limit.recordMissing({ name: 'a', uid: '1' }), 0)
  time.ms = 30
  assert.is(limit.recordMissing({ name: 'a', uid: '1' }), 30)
  assert.is(limit.recordMissing({ name: 'a', uid: '2' }), 0, 'another node of that name')
})

test('after a doubt the time starts again, and the node still counts as missing', () => {
  const { limit, time } = makeLimit()
  addMissing(limit, 'a')
  time.ms = 30
  limit.restart('a')
  assert.is(limit.missing, 1)
  time.ms = 60
  assert.is(limit.recordMissing({ name: 'a', uid: 'a' }), 0)
})

test('doubt about a node that was never missing adds no missing node', () => {
  const { limit } = makeLimit()
  limit.restart('a')
  assert.is(limit.missing, 0)
})

for (const { nodes, max, allowed } of [
  { nodes: 1, max: 5, allowed: 1 },
  { nodes: 3, max: 5, allowed: 1 },
  { nodes: 4, max: 5, allowed: 2 },
  { nodes: 200, max: 5, allowed: 5 },
  { nodes: 200, max: 1, allowed: 1 },
]) {
  test(`of ${nodes} nodes with a maximum of ${max}, ${allowed} may be deleted at once, and one more stops all`, () => {
    const names = Array.from({ length: allowed }, (_, n) => `node-${n}`)
    const { limit } = makeLimit(max)
    addMissing(limit, ...names)
    assert.ok(limit.canRemove(nodes))
    addMissing(limit, 'one-more')
    assert.not(limit.canRemove(nodes))
  })
}

test('deleted nodes count for ten minutes', () => {
  const { limit, time } = makeLimit(2)
  for (const name of ['a', 'b']) {
    addMissing(limit, name)
    assert.ok(limit.canRemove(20))
    limit.recordRemoval(name)
  }
  addMissing(limit, 'c')
  assert.not(limit.canRemove(18))
  limit.clear('c')
  time.ms = 10 * 60_000
  addMissing(limit, 'd')
  assert.ok(limit.canRemove(18))
})

test('the total has the nodes that are missing and those that were deleted', () => {
  const { limit } = makeLimit()
  addMissing(limit, 'a', 'b')
  limit.recordRemoval('a')
  assert.equal([limit.missing, limit.total], [1, 2])
})

test('half of the nodes means half of those before the first deletion', () => {
  const { limit } = makeLimit(10)
  for (const [deleted, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    addMissing(limit, name)
    assert.ok(limit.canRemove(10 - deleted))
    limit.recordRemoval(name)
  }
  addMissing(limit, 'f')
  assert.not(limit.canRemove(5))
})

test('once exceeded, the limit stays until every missing node is deleted or healthy', () => {
  const { limit, time } = makeLimit(1)
  addMissing(limit, 'a', 'b')
  assert.not(limit.canRemove(20))
  limit.clear('a')
  time.ms = 3_600_000
  assert.not(limit.canRemove(20))
  limit.restart('b')
  assert.not(limit.canRemove(20))
  limit.clear('b')
  addMissing(limit, 'c')
  assert.ok(limit.canRemove(20))
})

test('when all times restart a refusal stays, even if other nodes are healthy', () => {
  const { limit, time } = makeLimit(1)
  addMissing(limit, 'a', 'b')
  assert.not(limit.canRemove(10))
  limit.clear('a')
  time.ms = 30
  limit.restartAll()
  assert.is(limit.missing, 1)
  limit.clear('c')
  assert.is(limit.recordMissing({ name: 'b', uid: 'b' }), 0)
  time.ms = 3_600_000
  assert.is(limit.recordMissing({ name: 'b', uid: 'b' }), 3_600_000 - 30)
  assert.not(limit.canRemove(10))
})

test('when all times restart deleted nodes still count', () => {
  const { limit, time } = makeLimit(1)
  addMissing(limit, 'a')
  limit.recordRemoval('a')
  time.ms = 30
  limit.restartAll()
  addMissing(limit, 'b')
  assert.not(limit.canRemove(10))
})

test.run()
