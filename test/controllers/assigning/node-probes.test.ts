import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { connectionProbe, nodeProbes, nodeRules } from '../../../controllers/assigning/node-probes.ts'
import type { Node } from '../../../kube/objects.ts'
import { standStill } from '../../lib/stand-still.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

function node(name: string, addresses: Record<string, string>): Node {
  const shown = Object.entries(addresses).map(([type, address]) => ({ type, address }))
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {}, status: { addresses: shown } } as Node
}

test('a connection that is accepted or refused shows that the machine is there', async () => {
  const server = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  assert.equal(await connectionProbe({ address: '127.0.0.1', port }), { isWell: true })
  server.close()
  await once(server, 'close')
  assert.equal(await connectionProbe({ address: '127.0.0.1', port }), { isWell: true })
})

test('an answer that came while this process stood still is an answer', async () => {
  const server = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const probing = connectionProbe({ address: '127.0.0.1', port })
  process.nextTick(standStill, 1_100)
  assert.equal(await probing, { isWell: true })
  server.close()
})

test('an unreachable address is a failure with its reason', async () => {
  const result = await connectionProbe({ address: '255.255.255.255', port: 1 })
  assert.is(result.isWell, false)
  assert.ok(!result.isWell && result.reason !== '')
})

test('nodes are probed at their internal address, and a change is reported once', async () => {
  const clock = fakeClock()
  const nodes = [node('a', { ExternalIP: '198.51.100.1', InternalIP: '10.0.0.2' }), node('b', { Hostname: 'b' })]
  const probed = new Set<string>()
  let isWell = true
  let changes = 0
  const stop = new AbortController()
  const probes = nodeProbes({
    nodes: () => nodes,
    clock,
    onChange: () => void (changes += 1),
    async probe({ address, port }) {
      probed.add(`${address}:${port}`)
      return isWell ? { isWell } : { isWell: false, isDefinite: false, reason: 'no answer' }
    },
  })
  probes.start(stop.signal)
  await clock.pass(5_000)
  assert.equal([...probed], ['10.0.0.2:10250'])
  assert.equal([changes, probes.history('a').failures], [0, 0])
  isWell = false
  await clock.pass(nodeRules.failures * 1_000)
  assert.ok(probes.history('a').failures >= nodeRules.failures)
  assert.is(changes, 1)
  probes.retarget()
  await clock.pass(5_000)
  assert.is(changes, 1, 'the list of nodes was read again, and is the same')
  isWell = true
  await clock.pass(1_000)
  assert.is(changes, 2)
  stop.abort()
  assert.equal(probes.history('a').successes, 0, 'a process that stops knows nothing')
})

test('a probe that begins late does not turn two short silences into a dead node', async () => {
  const clock = fakeClock()
  let isSilent = false
  let changes = 0
  const probes = nodeProbes({
    nodes: () => [node('a', { InternalIP: '10.0.0.2' })],
    clock,
    onChange: () => void (changes += 1),
    probe: async () => (isSilent ? { isWell: false, isDefinite: false, reason: 'no answer' } : { isWell: true }),
  })
  const ending = new AbortController()
  probes.start(ending.signal)
  await clock.pass(5_000)
  isSilent = true
  await clock.pass(2_000)
  assert.is(probes.history('a').failures, 2)
  // It answers for a while in which this process gets no processor, and falls silent again.
  clock.freeze(1_600)
  await clock.pass(1_000)
  assert.equal([probes.history('a').failures < nodeRules.failures, changes], [true, 0])
  await clock.pass(1_000)
  assert.is(changes, 1)
  ending.abort()
})

test('good answers of another node are reported while one has failed: they show that our own network works', async () => {
  const clock = fakeClock()
  const nodes = [node('a', { InternalIP: '10.0.0.2' }), node('b', { InternalIP: '10.0.0.3' })]
  const silent = new Set(['10.0.0.2', '10.0.0.3'])
  let changes = 0
  const probes = nodeProbes({
    nodes: () => nodes,
    clock,
    onChange: () => void (changes += 1),
    probe: async ({ address }) =>
      silent.has(address) ? { isWell: false, isDefinite: false, reason: 'no answer' } : { isWell: true },
  })
  probes.start(new AbortController().signal)
  await clock.pass(5_000)
  assert.is(changes, 2)
  silent.delete('10.0.0.3')
  await clock.pass(1_000)
  assert.is(changes, 3, 'it answers')
  await clock.pass(5_000)
  assert.is(changes, 4, 'it has answered often enough')
})

test('the failure of a node that was deleted and registered again is reported again', async () => {
  const clock = fakeClock()
  const known = [node('a', { InternalIP: '10.0.0.2' })]
  let nodes = known
  let changes = 0
  const probe = async () => ({ isWell: false, isDefinite: false, reason: 'no answer' }) as const
  const probes = nodeProbes({ nodes: () => nodes, clock, onChange: () => void (changes += 1), probe })
  probes.start(new AbortController().signal)
  await clock.pass(10_000)
  assert.is(changes, 1)
  for (const next of [[], known]) {
    nodes = next
    probes.retarget()
  }
  await clock.pass(10_000)
  assert.is(changes, 2)
})

test.run()
