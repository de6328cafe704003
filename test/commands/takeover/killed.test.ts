// Apply and undo, killed at each of their writes: the next run ends where an undisturbed one does.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type KubeObject, keyOf } from '../../../kube/objects.ts'
import { configMaps, leases, services } from '../../../kube/resource.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { applyTakeover } from '../../../commands/takeover/apply/apply.ts'
import { runSteps } from '../../../commands/takeover/steps.ts'
import { KubeError } from '../../../kube/errors.ts'
import { deployments } from '../../../kube/workloads.ts'
import { End } from '../../../commands/takeover/end.ts'
import { apply, begins, common, undo } from './runs.ts'
import { type World, finalizer, upstream, world } from './world.ts'
import { remedyText } from '../../../lib/remedy.ts'

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
  let kills = 0
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
    kills += Number(isKilled)
    check(of)
  }
  assert.ok(kills > 5, `killed ${kills} times`)
}

const textOf = (error: Error) => `${error instanceof End ? error.state : error.name}: ${error.message}`
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

/** A predecessor that does not elect. A person starts ours when apply asks for it. */
const withoutElection = () => {
  const of = world({ elects: false })
  of.state.isReady = false
  of.onTick(() => {
    if (of.holder()?.spec?.holderIdentity?.includes('_takeover-')) of.state.isOurs = of.state.isReady = true
  })
  return of
}

test('apply that is killed at any write is finished by the next one', () =>
  killedAtEach(fresh, apply, (of) => {
    for (const { metadata } of of.api.stored(services)) assert.equal(metadata.finalizers, [upstream, finalizer])
    assert.is(of.holder()?.spec?.holderIdentity, 'ours_0123456789ab')
    assert.is(of.api.stored(configMaps)[0]?.data?.['state'], 'applied')
  }))

test('a predecessor without an election never acts beside ours, though apply is killed at any write for an hour', () =>
  killedAtEach(
    async () => withoutElection(),
    async (of) => {
      try {
        await apply(of)
      } finally {
        for (let minute = 0; minute < 60; minute += 1) await of.clock.sleep(60_000)
      }
    },
    (of) => {
      assert.is(of.state.overlaps, 0)
      assert.is(of.holder()?.spec?.holderIdentity, 'ours_0123456789ab')
    },
  ))

for (const left of ['no lease', 'a lease that no process renews'])
  test(`a predecessor that elects by another lock, beside ${left}, never acts beside ours`, async () => {
    const of = world({ elects: false })
    of.state.isReady = false
    if (left !== 'no lease') of.hold('node-a_5c1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711')
    const lines: string[] = []
    // The image of ours has to be pulled: that takes longer than the lease lasts.
    of.onTick(() => {
      if (of.state.isReady || !lines.some((line) => begins(line, 'Start eip-admission on standby'))) return
      of.state.isOurs = true
      of.state.isReady = of.state.nowMs > 40_000
    })
    const plan = () => {
      const { predecessor, ...made } = of.plan()
      return { ...made, predecessor: { ...predecessor, lease: { ...predecessor.lease, isUsed: true } } }
    }
    await apply({ ...of, plan }, lines)
    assert.is(of.state.overlaps, 0)
    assert.is(of.holder()?.spec?.holderIdentity, 'ours_0123456789ab')
    // It runs again, and never takes the lease.
    await undo(of, [], { patienceMs: 60_000 })
    assert.equal(Object.values(of.replicas()), [1])
  })

for (const elects of [true, false])
  test(`nobody leads for five seconds at most, with a predecessor that ${elects ? 'elects' : 'does not elect'}`, async () => {
    const of = elects ? await fresh() : withoutElection()
    await apply(of)
    const gapMs = of.state.leadsSinceMs - of.state.runsUntilMs
    assert.ok(gapMs >= 0 && gapMs <= 5_000, `${gapMs} ms`)
  })

test('nobody leads for five seconds at most, where the machine has capital letters and so its node has none', async () => {
  const of = world({ machine: 'Node-A' })
  of.state.isOurs = true
  await apply(of)
  const gapMs = of.state.leadsSinceMs - of.state.runsUntilMs
  assert.ok(gapMs >= 0 && gapMs <= 5_000, `${gapMs} ms`)
})

test('the lease of a program outside of the stopped pods counts as long as it says', async () => {
  const of = await fresh()
  let isReplaced = false
  const lines: string[] = []
  of.onTick(() => {
    const stored = of.holder()
    if (!stored || isReplaced || of.workload()?.spec?.replicas !== 0) return
    isReplaced = true
    of.api.put(leases, { ...stored, spec: { ...stored.spec, holderIdentity: 'elsewhere_1', leaseDurationSeconds: 15 } })
  })
  await apply(of, lines)
  assert.match(lines.join('\n'), 'is held by elsewhere_1, which does not act for eip-admission')
  assert.ok(of.state.leadsSinceMs - of.state.runsUntilMs >= 15_000)
})

test('the predecessor is not stopped before the webhooks of ours answer', async () => {
  const of = await fresh()
  of.state.isReady = false
  const run = applyTakeover({ ...common(of), patienceMs: 60_000, makePlan: async () => of.plan(), install: of.install })
  const error = await run.then(() => 'done', textOf)
  assert.match(error, 'made no progress for 1m: no eip-admission answers yet (the API server does not call')
  assert.match(error, 'start `eip-admission serve`')
  assert.equal(Object.values(of.replicas()), [1])
})

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
  let kills = 0
  // The first three write the namespace, the lock and the record: before them nothing was changed.
  for (let at = 4; at <= counted.state.writes; at += 1) {
    const of = await fresh()
    of.state.kills = at
    await apply(of).catch(() => (kills += 1))
    of.state.kills = Infinity
    await undo(of)
    assert.equal(visible(of), before, `killed at write ${at}`)
  }
  assert.ok(kills > 5, `killed ${kills} times`)
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

/** Starts the predecessor again once, ten seconds after it was stopped or later: as a pipeline does. */
function pipeline(of: World): void {
  const { tick } = of
  let stoppedAtMs: number | undefined
  let isDone = false
  of.onTick(() => {
    const [program] = of.api.stored(deployments)
    if (!program || program.spec?.replicas !== 0 || isDone) return
    stoppedAtMs ??= of.state.nowMs
    if (of.state.nowMs - stoppedAtMs < 10_000) return
    isDone = true
    const managedFields = [
      { manager: 'eip-admission', operation: 'Update', time: '2026-01-31T09:00:02Z' },
      { manager: 'argocd-controller', operation: 'Apply', time: '2026-01-31T09:00:01Z' },
      { manager: 'kubelet', operation: 'Update', time: '2026-01-31T09:00:03Z', subresource: 'status' },
    ]
    const metadata = { ...program.metadata, managedFields }
    of.api.put(deployments, { ...program, metadata, spec: { ...program.spec, replicas: 1 } })
    tick()
  })
}

test('a predecessor that a pipeline starts again is stopped, apply says who did it, and the next apply ends well', async () => {
  const of = await fresh()
  pipeline(of)
  const error = await apply(of).then(() => 'done', textOf)
  assert.match(
    error,
    /^refused: Deployment .* was started again by argocd-controller \(Apply at 2026-01-31T09:00:01Z\), and is stopped again/,
  )
  assert.equal(Object.values(of.replicas()), [0], 'it ends with one program that acts')
  await apply(of)
  assert.equal(Object.values(of.replicas()), [0])
  assert.is(of.holder()?.spec?.holderIdentity, 'ours_0123456789ab')
})

for (const left of [[finalizer, upstream], [finalizer], [upstream]]) {
  test(`undo takes ${left.join()} off a Service that is being deleted while another shows its address, and reports it`, async () => {
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
    const reason = 'Service default/api shows its address: keep it'
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
    'ElasticIP default.api was Releasing, and its deletion was requested: the provider may no longer have it',
    'ElasticIP default.web was Releasing',
  ])
})

test('undo names the reservation of a Service that no longer exists, as after a run that was killed', async () => {
  const of = await taken()
  of.api.drop(services, { namespace: 'default', name: 'web' })
  const { reservations } = await undo(of)
  const reason = 'Service default/web no longer exists'
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

test('undo names a provisioned reservation that the provider has not granted', async () => {
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
      const reason = 'Service default/web no longer exists'
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
      if (begins(line, 'Stop CPEM')) stopping.abort()
    },
    signal: stopping.signal,
    makePlan: async () => of.plan(),
    install: of.install,
  })
  await run.then(
    () => assert.unreachable(),
    (error: End) => assert.is(error.state, 'stopped'),
  )
  assert.ok(begins(lines.at(-1), 'Stop CPEM'))
})

test('a step without progress ends with what is missing, and what to do', async () => {
  const of = world()
  const run = applyTakeover({ ...common(of), patienceMs: 60_000, makePlan: async () => of.plan(), install: of.install })
  await run.then(
    () => assert.unreachable(),
    (error: Error) => {
      assert.match(error.message, 'made no progress for 1m: no process holds the lease')
      assert.match(error.message, 'start `eip-admission serve`')
    },
  )
})

/** Carries out one step that needs so long for each part of its work. */
function waiting(parts: number, partMs: number): Promise<unknown> {
  const of = world()
  const { clock, signal, tell } = common(of)
  const done = () => Math.floor(of.state.nowMs / partMs)
  const step = {
    name: 'x',
    title: 'Wait',
    missing: async () => (done() >= parts ? undefined : { text: `${done()} of ${parts}` }),
  }
  const nothing = () => Promise.resolve()
  return runSteps([step], { record: nothing, check: nothing, tell, signal, clock, patienceMs: 60_000 })
}

test('progress renews the patience with a step; a step without any uses it up', async () => {
  await waiting(5, 40_000)
  const error = await waiting(5, 70_000).then(() => 'done', textOf)
  assert.match(error, 'made no progress for 1m: 0 of 5')
})

for (const [command, run, make] of [
  ['apply', apply, fresh],
  ['undo', undo, taken],
] as const)
  test(`an API server that restarts within a step of ${command} is waited for`, async () => {
    const of = await make()
    let isAway = false
    const lines: string[] = []
    const told = lines.push.bind(lines)
    lines.push = (...all) => {
      const [line = ''] = all
      if (begins(line, command === 'apply' ? 'Stop CPEM' : 'Stop eip-admission')) {
        isAway = true
        const untilMs = of.state.nowMs + 20_000
        of.onTick(() => (isAway &&= of.state.nowMs < untilMs))
      }
      return told(...all)
    }
    of.fail = () => {
      if (isAway) throw new KubeError('connect ECONNREFUSED', { status: 0, reason: 'Unreachable' })
    }
    await run(of, lines)
    assert.match(lines.join('\n'), 'waiting for the API server: connect ECONNREFUSED')
  })

for (const [command, run, make] of [
  ['apply', apply, fresh],
  ['undo', undo, taken],
] as const)
  test(`a write of ${command} whose answer is lost ends no run that has begun`, async () => {
    for (let at = 1, writes = at; writes >= at; at += 1) {
      const of = await make()
      const lines: string[] = []
      writes = 0
      of.lose = () => {
        writes += lines.some((line) => begins(line, 'Install') || begins(line, 'Remove the webhook')) ? 1 : 0
        if (writes === at) throw new KubeError(`no answer to write ${at}`, { status: 0, reason: 'Unreachable' })
      }
      assert.is(await run(of, lines).then(() => 'done', textOf), 'done')
    }
  })

test('undo says what it resets before its first step', async () => {
  const of = await taken()
  const lines: string[] = []
  await undo(of, lines)
  const first = lines.findIndex((line) => line.startsWith('[1/'))
  const before = lines.slice(0, first).join('\n')
  assert.match(before, 'Restore the Services; left: 2 Services')
  assert.match(before, 'Remove the ElasticIPs, and keep their reservations; left: 2 ElasticIPs')
  assert.match(before, /Restore the objects of MetalLB; left: \d+ objects.*: [A-Z]\w+ .+ is \w+/)
})

test('undo by a person who is not an administrator ends with that reason, and begins nothing', async () => {
  const of = await taken()
  const before = visible(of)
  of.state.lacks = true
  const error = await undo(of).catch((one: unknown) => one)
  assert.instance(error, End)
  const { state, blockers } = error as End
  assert.is(state, 'blocked')
  assert.match(blockers[0]?.what ?? '', 'you are not an administrator of the cluster')
  assert.equal(visible(of), before)
})

test('undo refuses while somebody manages our Deployment, and would bring it back', async () => {
  const of = await taken()
  const own = (annotations: Record<string, string>) =>
    of.api.put(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'eip-admission', name: 'eip-admission', annotations },
      spec: { replicas: 2, selector: { matchLabels: { app: 'ours' } } },
    })
  const tracked = { 'argocd.argoproj.io/tracking-id': 'x' }
  own(tracked)
  const before = visible(of)
  const error = await undo(of).catch((one: unknown) => one)
  assert.instance(error, End)
  const { state, blockers } = error as End
  assert.is(state, 'blocked')
  assert.match(blockers[0]?.what ?? '', /Argo CD manages it, and would start it again while .* runs/)
  assert.match(
    remedyText(blockers[0]?.remedy ?? ''),
    'kubectl annotate deployment -n eip-admission eip-admission eip-admission.dev/manager-suspended=true',
  )
  assert.equal(visible(of), before)
  own({ ...tracked, 'eip-admission.dev/manager-suspended': 'true' })
  await undo(of)
})

test.run()
