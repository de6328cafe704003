import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lingeringNodes } from '../../../controllers/announcing/lingering-nodes.ts'
import type { KubeObject } from '../../../kube/objects.ts'

const forMs = 300_000
const [address, other] = ['203.0.113.40', '203.0.113.41']

/** A BGP peer of a node has the name of that node. */
function peer(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Peer', metadata: { name } }
}

function scene(...nodes: string[]) {
  const world = { ms: 0, nodes }
  const lingering = lingeringNodes({ forMs, nodeOf: ({ metadata }) => metadata.name }, () => world.ms)
  const hasNode = (name: string) => world.nodes.includes(name)
  return {
    world,
    ...lingering,
    /** A pass with the peers of these nodes; the nodes whose peers must stay. */
    pass: (...names: string[]) => lingering.look(names.map(peer), hasNode).map(({ metadata }) => metadata.name),
  }
}

test('an address waits for five minutes after the deletion of a node that announced it, whose peers stay as long', () => {
  const { world, pass, find } = scene('a', 'b')
  assert.equal(pass('a', 'b'), [])
  assert.is(find(address), undefined)
  world.nodes = ['a']
  assert.equal(pass('a', 'b'), ['b'])
  assert.match(find(address)?.reason ?? '', `Node b was deleted, and its machine may continue to announce ${address}`)
  world.ms = forMs - 1
  assert.equal([pass('a', 'b'), find(address)?.waitMs], [['b'], 1])
  world.ms = forMs
  assert.equal([pass('a', 'b'), find(address)], [[], undefined])
})

test('an address that left in an earlier term waits for the nodes that were deleted since then', () => {
  const { world, pass, find, forget } = scene('b')
  pass('a', 'b')
  assert.ok(find(address))
  forget()
  world.ms = 1_000
  world.nodes = []
  pass('a', 'b')
  assert.match(find(address)?.reason ?? '', `its machine may continue to announce ${address}`)
})

test('a node that is back heeds us again', () => {
  const { world, pass, find } = scene()
  pass('a')
  assert.ok(find(address))
  world.nodes = ['a']
  assert.equal([pass('a'), find(address)], [[], undefined])
})

test('a node that is deleted after an address was withdrawn has withdrawn it', () => {
  const { world, pass, find } = scene('b')
  pass('a', 'b')
  assert.ok(find(address))
  world.ms = forMs - 1
  world.nodes = []
  assert.equal(pass('a', 'b'), ['a', 'b'])
  assert.is(find(address)?.waitMs, 1, 'it waits for the first of the two')
  assert.ok((find(other)?.waitMs ?? 0) > 1, 'one that left later waits for both')
  world.ms = forMs
  assert.equal([pass('a', 'b'), find(address)], [['b'], undefined])
})

test('an address that is announced in between waits for the nodes that were deleted meanwhile', () => {
  const { world, pass, find, announced } = scene('b')
  pass('a', 'b')
  assert.ok(find(address))
  announced(address)
  world.ms = forMs
  world.nodes = []
  pass('b')
  assert.match(find(address)?.reason ?? '', 'Node b was deleted')
})

test('nothing is released before a process that begins to lead has looked, and it counts from then on', () => {
  const { world, pass, find, forget } = scene()
  assert.equal(find(address), { services: [] })
  pass('a')
  world.ms = forMs - 1
  forget()
  assert.equal(find(address), { services: [] })
  assert.equal(pass('a'), ['a'])
  world.ms = 2 * forMs - 2
  assert.is(find(address)?.waitMs, 1)
})

test.run()
