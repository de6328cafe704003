import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { machineList } from '../../../controllers/dependencies.ts'
import type { AnnotationScheme } from '../../../clouds/ports/peering.ts'
import { nodePeering } from '../../../controllers/peering/node-peering.ts'
import { peerFacts } from '../../../controllers/facts/peer-facts.ts'
import { KubeError } from '../../../kube/errors.ts'
import type { Node } from '../../../kube/objects.ts'
import { recentRead } from '../../../lib/recent-read.ts'
import type { LabelRequirement } from '../../../lib/label-selector.ts'
import { silentLog } from '../../fakes/log.ts'
import { fakeMachines, ids, makeMachine, makeNode } from '../nodes/builders.ts'
import { annotated, fakeNodes, fakePeering, makePeer, password, scheme, twoPeers } from './builders.ts'

const { signal } = new AbortController()
const minute = 60_000
const edge: LabelRequirement[] = [{ key: 'role', operator: 'In', values: ['edge'] }]

type Wanted = { selector?: LabelRequirement[]; scheme?: AnnotationScheme }

function makeCluster(wanted: Wanted = {}) {
  const time = { ms: 1_000 }
  const now = () => time.ms
  const nodes = fakeNodes()
  const { cloud, peering } = fakePeering({ asn: 65_000, password: undefined })
  const machines = fakeMachines(makeMachine())
  const facts = peerFacts()
  const reconciler = nodePeering({
    client: nodes.client,
    cached: { node: nodes.get },
    ids,
    selector: wanted.selector ?? [],
    scheme: wanted.scheme ?? scheme,
    project: recentRead({ read: async () => void cloud.asked.push('project'), now }),
    enabled: recentRead({ read: (aborted) => peering.machines(aborted), now }),
    peering,
    machines: machineList({ machines: machines.port, now }),
    facts,
    refreshMs: 30 * minute,
    now,
    log: silentLog,
  })
  return {
    time,
    nodes,
    cloud,
    machines: machines.cloud,
    facts,
    register: (n = 1, labels?: Record<string, string>) => {
      const name = `worker-${n}`
      nodes.put(makeNode({ name, providerID: `equinixmetal://m-${n}`, ...(labels && { labels }) }))
      return name
    },
    look: (name = 'worker-1') => reconciler.reconcile(name, signal),
  }
}

type Cluster = ReturnType<typeof makeCluster>

async function settled(cluster: Cluster): Promise<Cluster> {
  cluster.register()
  await cluster.look()
  cluster.cloud.asked.length = 0
  cluster.nodes.writes.length = 0
  return cluster
}

const broken = new CloudError('the provider is broken', { fault: 'unavailable', outcome: 'nothing' })

test('while machines are unreadable a node keeps the network in its annotation, even after a restart', async () => {
  const cluster = await settled(makeCluster())
  const { facts, look, machines, nodes, time } = cluster
  facts.remove('worker-1')
  time.ms += 120 * minute
  machines.trouble = broken
  assert.is(await look().catch((error: unknown) => error), broken)
  assert.equal(nodes.annotationsOf('worker-1'), annotated)
  assert.equal(nodes.writes, [])
})

test('a node that is selected again is read at once', async () => {
  const cluster = makeCluster({ selector: edge })
  const { cloud, look, register } = cluster
  register(1, { role: 'edge' })
  await look()
  register(1, {})
  await look()
  cloud.asked.length = 0
  register(1, { role: 'edge' })
  await look()
  assert.ok(cloud.asked.includes('peers m-1'))
})

test('a new node costs a call that turns BGP on, one that reads its peers, and one write', async () => {
  const { cloud, facts, look, nodes, register } = makeCluster()
  register()
  await look()
  assert.equal(cloud.asked, ['project', 'machines', 'enable m-1', 'peers m-1'])
  assert.equal(nodes.annotationsOf('worker-1'), annotated)
  assert.equal(
    facts.all().map(({ node, peers }) => [node, peers]),
    [['worker-1', twoPeers]],
  )
  assert.equal(nodes.writes, ['apply worker-1'])
})

test('a machine that speaks BGP already costs one read', async () => {
  const { cloud, look, register } = makeCluster()
  cloud.on.add('m-1')
  register()
  await look()
  assert.equal(cloud.asked, ['project', 'machines', 'peers m-1'])
})

test('fifty nodes share the calls that are the same for all', async () => {
  const { cloud, look, register, machines } = makeCluster()
  const names = Array.from({ length: 50 }, (_, n) => register(n))
  machines.all = names.map((name, n) => makeMachine({ id: `m-${n}`, name }))
  await Promise.all(names.map(look))
  assert.is(cloud.asked.length, 2 + 2 * 50)
  assert.equal(machines.asked, ['list'])
})

test('a settled node costs nothing until it is due, and then one read', async () => {
  const { cloud, look, nodes, time } = await settled(makeCluster())
  const { againInMs = 0 } = await look()
  assert.ok(againInMs >= 15 * minute && againInMs <= 30 * minute, `${againInMs}`)
  assert.equal([cloud.asked, nodes.writes], [[], []])
  time.ms += againInMs
  await look()
  assert.equal([cloud.asked, nodes.writes], [['peers m-1'], []])
})

test('not all nodes are asked about at the same time', async () => {
  const { look, register } = makeCluster()
  const names = Array.from({ length: 20 }, (_, n) => register(n))
  const waits = await Promise.all(names.map(async (name) => (await look(name)).againInMs ?? 0))
  assert.ok(Math.max(...waits) - Math.min(...waits) > minute)
})

test('a node that is not ready for a while costs nothing', async () => {
  const { cloud, look, nodes } = await settled(makeCluster())
  for (const ready of ['Unknown', 'True'] as const) {
    const { metadata } = makeNode({ providerID: 'equinixmetal://m-1' })
    const annotations = nodes.annotationsOf('worker-1')
    nodes.put({ ...makeNode({ providerID: 'equinixmetal://m-1', ready }), metadata: { ...metadata, annotations } })
    await look()
  }
  assert.equal([cloud.asked, nodes.writes], [[], []])
})

test('a change of our annotations by a person is repaired without a call, even while the provider is down', async () => {
  const { cloud, look, nodes } = await settled(makeCluster())
  cloud.trouble = broken
  nodes.annotate('worker-1', { 'metal.equinix.com/bgp-peers-0-peer-ip': '192.0.2.1', mine: 'kept' })
  nodes.annotate('worker-1', { 'metal.equinix.com/bgp-peers-1-peer-ip': null })
  await look()
  assert.equal(nodes.annotationsOf('worker-1'), { ...annotated, mine: 'kept' })
  assert.equal([cloud.asked, nodes.writes], [[], ['apply worker-1']])
})

test('peers that changed in the provider are reported, and so are peers that no longer exist', async () => {
  const { cloud, facts, look, nodes, time } = await settled(makeCluster())
  cloud.peers = [makePeer({ peerAddress: '169.254.255.9' })]
  time.ms += 30 * minute
  await look()
  assert.is(nodes.annotationsOf('worker-1')['metal.equinix.com/bgp-peers-0-peer-ip'], '169.254.255.9')
  assert.is(nodes.annotationsOf('worker-1')['metal.equinix.com/bgp-peers-1-peer-ip'], undefined)
  cloud.peers = []
  time.ms += 30 * minute
  await look()
  assert.equal(nodes.annotationsOf('worker-1'), { 'metal.equinix.com/network-4-private': '10.66.1.0/25' })
  assert.equal(facts.get('worker-1')?.peers, [])
})

for (const fault of ['auth', 'unavailable', 'rate-limit', 'invalid'] as const) {
  test(`a cloud that says "${fault}" takes nothing back`, async () => {
    const { cloud, facts, look, nodes, time } = await settled(makeCluster())
    time.ms += 30 * minute
    cloud.trouble = new CloudError('no', { fault, outcome: 'nothing' })
    const refusal = await look().catch((error: unknown) => error)
    assert.instance(refusal, CloudError)
    assert.equal(facts.get('worker-1')?.peers, twoPeers)
    assert.equal([nodes.annotationsOf('worker-1'), nodes.writes], [annotated, []])
    cloud.trouble = undefined
    await look()
    assert.is(cloud.asked.at(-1), 'peers m-1')
  })
}

test('a session that was removed at the provider is created again, and nothing is withdrawn meanwhile', async () => {
  const { cloud, facts, look, nodes, time } = await settled(makeCluster())
  cloud.on.clear()
  // The list of all machines is not yet too old to be believed.
  time.ms += 30 * minute
  await look()
  assert.ok(cloud.on.has('m-1'))
  assert.equal(cloud.asked, ['peers m-1', 'project', 'machines', 'enable m-1', 'peers m-1'])
  assert.equal([facts.get('worker-1')?.peers, nodes.writes], [twoPeers, []])
})

test('while the provider has not decided, it is asked again soon, then less and less often', async () => {
  const { cloud, look, register, time } = makeCluster()
  cloud.peers = []
  register()
  const waits: number[] = []
  for (let n = 0; n < 8; n += 1) {
    const { againInMs = 0 } = await look()
    waits.push(againInMs)
    time.ms += againInMs
  }
  assert.ok((waits[0] ?? 0) <= 2_000)
  assert.ok(waits.every((ms) => ms > 0 && ms <= minute))
  assert.ok((waits.at(-1) ?? 0) >= 30_000)
  cloud.peers = twoPeers
  await look()
  const { againInMs = 0 } = await look()
  assert.ok(againInMs >= 15 * minute)
})

test('a node that is forgotten and selected again is asked again soon, whatever was answered before', async () => {
  const { cloud, look, time, nodes } = makeCluster({ selector: edge })
  const register = (role: string) => nodes.put(makeNode({ providerID: 'equinixmetal://m-1', labels: { role } }))
  cloud.peers = []
  register('edge')
  for (let n = 0; n < 8; n += 1) time.ms += (await look()).againInMs ?? 0
  register('core')
  await look()
  register('edge')
  const { againInMs = Infinity } = await look()
  assert.ok(againInMs <= 2_000, `${againInMs} ms`)
})

test('a node that the selector no longer matches loses its annotations, and is forgotten', async () => {
  const { cloud, facts, look, nodes, register } = makeCluster({ selector: edge })
  register(1, { role: 'edge' })
  await look()
  assert.equal(nodes.annotationsOf('worker-1'), annotated)
  const { metadata, ...rest } = makeNode({ providerID: 'equinixmetal://m-1', labels: { role: 'core' } })
  nodes.put({ ...rest, metadata: { ...metadata, annotations: { ...annotated, mine: 'kept' } } })
  cloud.asked.length = 0
  await look()
  assert.equal(nodes.annotationsOf('worker-1'), { mine: 'kept' })
  assert.equal([facts.all(), cloud.asked], [[], []])
})

test('a predecessor’s annotations are removed from a node, too, if they are wrong', async () => {
  const { look, nodes, register } = makeCluster()
  register()
  nodes.annotate('worker-1', { ...annotated, 'metal.equinix.com/bgp-peers-2-peer-ip': '169.254.255.3', mine: 'kept' })
  await look()
  assert.equal(nodes.annotationsOf('worker-1'), { ...annotated, mine: 'kept' })
  assert.equal(nodes.writes, ['apply worker-1', 'patch worker-1'])
})

test('annotations are not removed from a node that has registered again since', async () => {
  const { look, nodes, register } = makeCluster()
  const stale = { 'metal.equinix.com/bgp-peers-2-peer-ip': '169.254.255.3' }
  register()
  nodes.annotate('worker-1', stale)
  nodes.hooks.afterApply = () => {
    const { metadata, ...node } = nodes.get('worker-1') as Node
    nodes.put({ ...node, metadata: { ...metadata, uid: 'uid of another', annotations: stale } })
  }
  assert.instance(await look().catch((error: unknown) => error), KubeError)
  assert.equal(nodes.annotationsOf('worker-1'), stale)
})

test('a password that was shown is removed from the node when the settings change to MetalLB', async () => {
  const secret = makePeer({ password: password('Secret12345') })
  const shown = makeCluster({ scheme: { ...scheme, showsPasswords: true } })
  shown.cloud.peers = [secret]
  shown.register()
  await shown.look()
  const annotations = shown.nodes.annotationsOf('worker-1')
  assert.is(annotations['metal.equinix.com/bgp-peers-0-bgp-pass'], 'U2VjcmV0MTIzNDU=')
  const hidden = makeCluster()
  hidden.cloud.peers = [secret]
  hidden.register()
  hidden.nodes.annotate('worker-1', annotations)
  await hidden.look()
  assert.is(hidden.nodes.annotationsOf('worker-1')['metal.equinix.com/bgp-peers-0-bgp-pass'], undefined)
})

test('a late write does not recreate a deleted node', async () => {
  const { cloud, look, nodes, register, facts } = makeCluster()
  register()
  cloud.on.add('m-1')
  const looking = look().catch((error: unknown) => error)
  nodes.remove('worker-1')
  assert.instance(await looking, Error)
  await look()
  assert.equal([nodes.get('worker-1'), facts.all()], [undefined, []])
})

test('peers are known although the machines cannot be listed, and the network follows', async () => {
  const { facts, look, machines, nodes, register, time } = makeCluster()
  machines.trouble = broken
  register()
  assert.is(await look().catch((error: unknown) => error), broken)
  assert.equal(facts.get('worker-1')?.peers, twoPeers)
  machines.trouble = undefined
  time.ms += minute
  await look()
  assert.equal(nodes.annotationsOf('worker-1'), annotated)
})

test('a machine that no list has keeps its known network', async () => {
  const { look, machines, nodes, time } = await settled(makeCluster())
  machines.all = []
  time.ms += 30 * minute
  await look()
  assert.equal(nodes.annotationsOf('worker-1'), annotated)
})

test('a node whose machine is unknown waits, and asks for nothing', async () => {
  const { cloud, look, nodes } = makeCluster()
  nodes.put(makeNode())
  assert.equal(await look(), {})
  assert.equal(cloud.asked, [])
})

test.run()
