// Apply and undo, killed at each of their writes: the next run ends where an undisturbed one does.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type KubeObject, keyOf } from '../../../kube/objects.ts'
import { configMaps, services } from '../../../kube/resource.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { deployments } from '../../../inspect/kinds.ts'
import { applyTakeover } from '../../../commands/takeover/apply/apply.ts'
import { apply, common, undo } from './runs.ts'
import { type World, finalizer, upstream, world } from './world.ts'

/** Kinds that say nothing of what is left: undo keeps the namespace and the definition, and both programs hold leases. */
const others = ['Namespace', 'CustomResourceDefinition', 'Lease']

/** Everything that a user of the cluster, a router or a predecessor sees: objects of any kind that a step may write. */
function visible({ api }: World): unknown {
  const plain = (object: KubeObject) => {
    const { labels = {}, annotations = {}, finalizers = [] } = object.metadata
    const content = ['spec', 'data', 'webhooks'].map((field): unknown => Reflect.get(object, field))
    return [`${object.kind} ${keyOf(object)}`, { labels, annotations, finalizers, content }] as const
  }
  const objects = api.everything().filter(({ kind }) => !others.includes(kind))
  return Object.fromEntries(objects.map(plain))
}

/** Counts the writes of a run, then repeats it on new worlds, killed at each of them. */
async function killedAtEach(
  make: () => Promise<World>,
  run: (of: World) => Promise<unknown>,
  check: (of: World) => void,
) {
  const first = await make()
  first.state.writes = 0
  await run(first)
  const { writes } = first.state
  check(first)
  assert.ok(writes > 5)
  for (let at = 1; at <= writes; at += 1) {
    const of = await make()
    of.state.writes = 0
    of.state.kills = at
    // How often a lease is renewed meanwhile differs, so a run may end before this write.
    const isKilled = await run(of).then(
      () => false,
      (error: Error) => error.message.endsWith('killed') || Promise.reject(error),
    )
    of.state.kills = Infinity
    if (isKilled) await run(of)
    check(of)
  }
}

const fresh = async () => {
  const of = world()
  of.state.isOurs = true
  return of
}
const taken = async () => {
  const of = await fresh()
  await apply(of)
  return of
}

test('apply that is killed at any write is finished by the next one', () =>
  killedAtEach(fresh, apply, (of) => {
    for (const { metadata } of of.api.stored(services)) assert.equal(metadata.finalizers, [upstream, finalizer])
    assert.is(of.holder()?.spec?.holderIdentity, 'ours_0123456789ab')
    assert.is(of.api.stored(configMaps)[0]?.data?.['state'], 'applied')
  }))

test('undo that is killed at any write leaves what was found', async () => {
  const before = visible(world())
  await killedAtEach(taken, undo, (of) => {
    assert.equal(visible(of), before)
    assert.match(of.holder()?.spec?.holderIdentity ?? '', /^node-a_/)
  })
})

test('undo of an apply that was killed at any write leaves what was found', async () => {
  const before = visible(world())
  const counted = await fresh()
  await apply(counted)
  // The first three write the namespace, the lock and the record: before them nothing was changed.
  for (let at = 4; at <= counted.state.writes; at += 1) {
    const of = await fresh()
    of.state.kills = at
    await apply(of).catch(() => undefined)
    of.state.kills = Infinity
    await undo(of)
    assert.equal(visible(of), before, `killed at write ${at}`)
  }
})

test('undo starts only what ran: two versions of the predecessor beside each other would both buy', async () => {
  const of = await fresh()
  of.addProgram('older', 0)
  const before = of.replicas()
  await apply(of)
  assert.equal(Object.values(of.replicas()), [0, 0])
  const lines: string[] = []
  await undo(of, lines)
  assert.equal(of.replicas(), before)
  assert.not.match(lines.join('\n'), 'older')
})

test('undo starts every workload of a predecessor that had been stopped before apply', async () => {
  const of = world()
  const [stored] = of.api.stored(deployments)
  if (!stored) return assert.unreachable()
  of.api.put(deployments, { ...stored, spec: { ...stored.spec, replicas: 0 } })
  of.state.isOurs = true
  await apply(of)
  await undo(of)
  assert.equal(Object.values(of.replicas()), [1])
})

test('apply that goes on stops what was installed since, and undo starts what ran last', async () => {
  const of = await taken()
  of.addProgram('newer', 2)
  await apply(of)
  assert.equal(of.replicas(), { 'cloud-provider-equinix-metal': 0, newer: 0 })
  await apply(of)
  await undo(of)
  assert.equal(of.replicas(), { 'cloud-provider-equinix-metal': 0, newer: 2 })
})

test('what was installed since apply began runs again beside what apply had not stopped yet', async () => {
  const of = await fresh()
  // The namespace, the lock and the record.
  of.state.kills = 4
  await apply(of).catch(() => undefined)
  of.state.kills = Infinity
  of.addProgram('newer', 1)
  const before = of.replicas()
  await apply(of)
  assert.equal(Object.values(of.replicas()), [0, 0])
  await undo(of)
  assert.equal(of.replicas(), before)
})

for (const left of [[finalizer, upstream], [finalizer], [upstream]]) {
  test(`undo takes ${left.join()} off a Service that is being deleted while another shows its address, and says so`, async () => {
    const of = await taken()
    const [web, api] = of.api.stored(services)
    if (!web || !api) return assert.unreachable()
    of.api.put(services, { ...api, spec: { ...api.spec, loadBalancerIP: web.spec.loadBalancerIP ?? '' } })
    // As our program leaves it: the address is withdrawn, and its release waits for the other Service.
    const metadata = { ...web.metadata, deletionTimestamp: '2026-01-31T09:00:00Z', finalizers: left }
    of.api.put(services, { ...web, metadata, spec: { type: 'LoadBalancer' }, status: {} })
    const { reservations } = await undo(of)
    assert.equal(
      of.api.stored(services).map((one) => [one.metadata.name, one.metadata.finalizers]),
      [['api', [upstream]]],
    )
    const reason = 'Service default/web is being deleted, and Service default/api shows its address: keep it'
    assert.equal(reservations, [{ id: 'r-web', address: '198.51.100.7', reason }])
  })
}

test('undo says of a reservation whose deletion was requested that it may be gone', async () => {
  const of = await taken()
  const [web, api] = of.api.stored(elasticIPs)
  if (!web || !api) return assert.unreachable()
  for (const [record, more] of [
    [web, {}],
    [api, { deletionRequestedAt: '2026-01-31T09:00:00Z' }],
  ] as const)
    of.api.put(elasticIPs, { ...record, status: { ...record.status, phase: 'Releasing', ...more } })
  const { reservations } = await undo(of)
  assert.equal(reservations.map(({ reason }) => reason).toSorted(), [
    'ElasticIP default.api was Releasing, and its deletion was requested: the cloud may not have it any more',
    'ElasticIP default.web was Releasing',
  ])
})

test('undo names the reservation of a Service that is gone, as after a run that was killed', async () => {
  const of = await taken()
  of.api.drop(services, { namespace: 'default', name: 'web' })
  const { reservations } = await undo(of)
  const reason = 'Service default/web does not exist any more'
  assert.equal(reservations, [{ id: 'r-web', address: '198.51.100.7', reason }])
})

for (const phase of ['Requested', 'Reserved'] as const)
  test(`undo names the reservation of a record that is ${phase}, and that no Service has`, async () => {
    const of = await taken()
    const [web] = of.api.stored(elasticIPs)
    if (!web) return assert.unreachable()
    const address = phase === 'Reserved' ? '198.51.100.99' : undefined
    of.api.put(elasticIPs, {
      ...web,
      metadata: { ...web.metadata, name: 'default.refused', uid: 'refused' },
      spec: { ...web.spec, claimRef: { namespace: 'default', name: 'refused' } },
      status: { phase, reservationID: 'r-refused', ...(address !== undefined && { address }) },
    })
    const { reservations } = await undo(of)
    assert.equal(reservations, [{ id: 'r-refused', address, reason: `ElasticIP default.refused was ${phase}` }])
  })

test('undo names a provisioned reservation that the cloud has not granted', async () => {
  const of = await taken()
  const [web] = of.api.stored(elasticIPs)
  if (!web) return assert.unreachable()
  of.api.put(elasticIPs, {
    ...web,
    metadata: { ...web.metadata, name: 'office', uid: 'office' },
    spec: { reservationID: 'r-office', reclaimPolicy: 'Retain' },
    status: { phase: 'Requested', reservationID: 'r-office' },
  })
  const { reservations } = await undo(of)
  assert.equal(reservations, [{ id: 'r-office', address: undefined, reason: 'ElasticIP office was Requested' }])
})

test('undo that was killed at any write names what its first run left', async () => {
  const withoutService = async () => {
    const of = await taken()
    of.api.drop(services, { namespace: 'default', name: 'web' })
    return of
  }
  let left: unknown
  await killedAtEach(
    withoutService,
    async (of) => (left = (await undo(of)).reservations),
    () => {
      const reason = 'Service default/web does not exist any more'
      assert.equal(left, [{ id: 'r-web', address: '198.51.100.7', reason }])
    },
  )
})

test('a reservation that undo left is forgotten when apply takes over again', async () => {
  const of = await taken()
  const [web] = of.api.stored(services)
  if (!web) return assert.unreachable()
  of.api.drop(services, { namespace: 'default', name: 'web' })
  const [stored] = of.api.stored(deployments)
  if (!stored) return assert.unreachable()
  of.api.drop(deployments, { namespace: stored.metadata.namespace, name: stored.metadata.name })
  await undo(of, [], { patienceMs: 60_000 }).catch(() => undefined)
  of.api.put(deployments, stored)
  of.api.put(services, web)
  of.state.isOurs = true
  await apply(of)
  assert.equal((await undo(of)).reservations, [])
})

test('undo names a reservation that only the last sweep knows of, and none twice', async () => {
  const of = await taken()
  const metadata = { namespace: 'eip-admission', name: 'eip-admission-ledger' }
  const data = { orphans: '7d9f 198.51.100.99\nr-web 198.51.100.7' }
  of.api.put(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
  const { reservations } = await undo(of)
  const reason = 'the last sweep found no Service for it, and may have deleted it since'
  assert.equal(reservations, [{ id: '7d9f', address: '198.51.100.99', reason }])
})

test('with 40 nodes apply writes as often as with two, and no run writes a node', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => `node-${n}`)
  const counts = []
  for (const nodes of [2, 40]) {
    const of = world({ nodeNames: names(nodes) })
    of.state.isOurs = true
    await apply(of)
    // How often leases are renewed is a matter of time.
    const writes = of.calls.writes.filter((kind) => kind !== 'Lease').length
    const applied = { writes, kinds: new Set(of.calls.writes) }
    of.calls.writes.length = 0
    of.calls.reads.length = 0
    await undo(of)
    const peers = of.calls.writes.filter((kind) => kind === 'BGPPeer').length
    const reads = of.calls.reads.filter((kind) => kind === 'Node').length
    assert.not(applied.kinds.has('Node') || of.calls.writes.includes('Node'))
    assert.ok(peers <= 2 * nodes, `${peers} writes for ${2 * nodes} peers`)
    counts.push({ writes: applied.writes, reads })
  }
  assert.is(counts[1]?.writes, counts[0]?.writes)
  // All nodes are one list; how often it is read depends on steps and waves, not on nodes.
  assert.ok((counts[1]?.reads ?? 0) < 20, JSON.stringify(counts))
})

test('a takeover that begins again after undo, and its undo, end the same', async () => {
  const of = await fresh()
  const before = visible(of)
  for (let round = 0; round < 2; round += 1) {
    of.state.isOurs = true
    await apply(of)
    await undo(of)
    assert.equal(visible(of), before)
  }
})

test('a signal ends a run between two steps, and nothing is half said', async () => {
  const of = await fresh()
  const stopping = new AbortController()
  const lines: string[] = []
  const run = applyTakeover({
    ...common(of),
    tell(line) {
      lines.push(line)
      if (line.startsWith('[3/6]')) stopping.abort()
    },
    signal: stopping.signal,
    makePlan: async () => of.plan(),
    install: of.install,
  })
  await run.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.name, 'Interrupted'),
  )
  assert.match(lines.at(-1) ?? '', /^\[3\/6\]/)
})

test('a step without progress ends with what is missing, and what to do', async () => {
  const of = world()
  const run = applyTakeover({ ...common(of), patienceMs: 60_000, makePlan: async () => of.plan(), install: of.install })
  await run.then(
    () => assert.unreachable(),
    (error: Error) => {
      assert.match(error.message, 'made no progress for 1 minutes: nobody holds the lease')
      assert.match(error.message, 'start `eip-admission serve`')
    },
  )
})

test.run()
