import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type RemovalBrake, removalBrake } from '../../../controllers/nodes/removal-brake.ts'

function makeBrake(max = 5) {
  const time = { ms: 0 }
  return { time, brake: removalBrake({ max, now: () => time.ms }) }
}

const suspect = (brake: RemovalBrake, ...names: string[]) => {
  for (const name of names) brake.missed({ name, uid: name })
}

test('a node is missed for as long as nothing speaks against it', () => {
  const { brake, time } = makeBrake()
  assert.is(brake.missed({ name: 'a', uid: '1' }), 0)
  time.ms = 30
  assert.is(brake.missed({ name: 'a', uid: '1' }), 30)
  assert.is(brake.missed({ name: 'a', uid: '2' }), 0, 'another node of that name')
})

test('after a doubt it counts from the beginning, and the suspicion stays', () => {
  const { brake, time } = makeBrake()
  suspect(brake, 'a')
  time.ms = 30
  brake.doubted('a')
  assert.is(brake.suspects, 1)
  time.ms = 60
  assert.is(brake.missed({ name: 'a', uid: 'a' }), 0)
})

test('doubt about somebody who was never missed is no suspicion', () => {
  const { brake } = makeBrake()
  brake.doubted('a')
  assert.is(brake.suspects, 0)
})

for (const { nodes, max, allowed } of [
  { nodes: 1, max: 5, allowed: 1 },
  { nodes: 3, max: 5, allowed: 1 },
  { nodes: 4, max: 5, allowed: 2 },
  { nodes: 200, max: 5, allowed: 5 },
  { nodes: 200, max: 1, allowed: 1 },
]) {
  test(`of ${nodes} nodes ${allowed} may go at once where ${max} may at most, and one more stops all`, () => {
    const names = Array.from({ length: allowed }, (_, n) => `node-${n}`)
    const { brake } = makeBrake(max)
    suspect(brake, ...names)
    assert.ok(brake.allows(nodes))
    suspect(brake, 'one-more')
    assert.not(brake.allows(nodes))
  })
}

test('those that went count for ten minutes', () => {
  const { brake, time } = makeBrake(2)
  for (const name of ['a', 'b']) {
    suspect(brake, name)
    assert.ok(brake.allows(20))
    brake.removed(name)
  }
  suspect(brake, 'c')
  assert.not(brake.allows(18))
  brake.cleared('c')
  time.ms = 10 * 60_000
  suspect(brake, 'd')
  assert.ok(brake.allows(18))
})

test('once stopped, time opens nothing: every suspect has to be gone or well', () => {
  const { brake, time } = makeBrake(1)
  suspect(brake, 'a', 'b')
  assert.not(brake.allows(20))
  brake.cleared('a')
  time.ms = 3_600_000
  assert.not(brake.allows(20))
  brake.doubted('b')
  assert.not(brake.allows(20))
  brake.cleared('b')
  suspect(brake, 'c')
  assert.ok(brake.allows(20))
})

test.run()
