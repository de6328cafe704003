// The pools of MetalLB that undo gives other names: an address has a route whatever fails.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ipAddressPools } from '../../../announcers/metallb/resources.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { KubeError } from '../../../kube/errors.ts'
import type { KubeObject } from '../../../kube/objects.ts'
import { leases, services } from '../../../kube/resource.ts'
import { apply, undo } from './runs.ts'
import { type World, finalizer, world } from './world.ts'

/** A Service that comes while our program serves. */
function addLate(of: World, name = 'late', loadBalancerIP = '198.51.100.20'): void {
  of.api.put(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name, finalizers: [finalizer] },
    spec: { type: 'LoadBalancer', loadBalancerIP },
  })
}

const poolNames = ({ api }: World) =>
  api
    .stored(ipAddressPools)
    .map(({ metadata }) => metadata.name)
    .toSorted()

/** A stored pool: its uid, and what makes another object the same. */
function pool({ api }: World, name: string) {
  const stored = api.stored(ipAddressPools).find(({ metadata }) => metadata.name === name)
  assert.ok(stored, name)
  const { uid, labels, annotations } = stored.metadata
  return { uid, metadata: { labels, annotations }, spec: stored.spec }
}

test('the pool of a new Service has the name of the predecessor from the start, and is never removed', async () => {
  const of = world({ hasWebhook: true })
  of.state.isOurs = true
  await apply(of)
  addLate(of)
  of.tick()
  assert.ok(poolNames(of).includes('default.late'))
  const uid = () => of.api.stored(ipAddressPools).find(({ metadata }) => metadata.name === 'default.late')?.metadata.uid
  const before = uid()
  await undo(of)
  assert.is(uid(), before)
})

const writtenLabels = { 'app.kubernetes.io/managed-by': 'eip-admission', 'cloud-provider': 'equinix-metal' }

/** A pool of ours for these Services has the name of its address, which undo changes. */
async function toRename({ hasWebhook = true, services: count = 1 } = {}): Promise<World> {
  const of = world({ hasWebhook })
  of.state.isOurs = true
  await apply(of)
  for (const address of ['198.51.100.20', '198.51.100.21'].slice(0, count))
    of.api.put(ipAddressPools, {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      metadata: { namespace: 'metallb-system', name: address, labels: writtenLabels },
      spec: { addresses: [`${address}/32`], autoAssign: false },
    })
  addLate(of)
  if (count > 1) addLate(of, 'later', '198.51.100.21')
  of.tick()
  assert.ok(poolNames(of).includes('198.51.100.20'))
  return of
}

const renamed = ['default.api', 'default.late', 'default.web']

for (const hasWebhook of [false, true]) {
  test(`a pool that has the name of its address is renamed, ${hasWebhook ? 'one after the other' : 'the new one first'}`, async () => {
    const of = await toRename({ hasWebhook })
    await undo(of)
    assert.equal(poolNames(of), renamed)
  })
}

for (const hasWebhook of [false, true])
  test(`undo that is killed at any write ${hasWebhook ? 'with' : 'without'} a webhook leaves one pool for each address`, async () => {
    for (let at = 1, isKilled = true; isKilled; at += 1) {
      const of = await toRename({ hasWebhook })
      of.state.writes = 0
      of.state.kills = at
      isKilled = (await failure(undo(of))) !== 'done'
      of.state.kills = Infinity
      if (isKilled) await undo(of)
      assert.equal(poolNames(of), renamed, `killed at write ${at}`)
    }
  })

/** A client whose creates of pools this answers first: by throwing. */
function meets(of: World, answer: (pool: KubeObject, attempt: number) => void): KubeClient {
  const client = of.client()
  let attempt = 0
  return {
    ...client,
    create: async (resource, object, options) => {
      if (resource.kind === 'IPAddressPool') answer(object, (attempt += 1))
      return client.create(resource, object, options)
    },
  }
}

const refused = (message: string, status = 403) => new KubeError(message, { status, reason: 'Forbidden' })
const policy = 'admission webhook "pools.example.org" denied the request: no pools on Thursdays'
const failure = (run: Promise<unknown>) =>
  run.then(
    () => 'done',
    (error: Error) => error.message,
  )

test('a pool stays where another than MetalLB refuses its new name', async () => {
  const of = await toRename()
  const before = pool(of, '198.51.100.20')
  const client = meets(of, () => {
    throw refused(policy)
  })
  assert.is(await failure(undo(of, [], { client })), policy)
  assert.equal(pool(of, '198.51.100.20'), before)
  await undo(of)
  assert.equal(poolNames(of), renamed)
})

test('an API server that fails after the old pool no longer exists has the new one when it is back', async () => {
  const of = await toRename()
  const client = meets(of, (_pool, attempt) => {
    const statuses = [undefined, 500, 0, 429]
    const status = statuses[attempt - 1]
    if (status !== undefined) throw refused('not now', status)
  })
  await undo(of, [], { client })
  assert.equal(poolNames(of), renamed)
})

for (const [what, message, status] of [
  ['that is refused for good', policy, 403],
  ['for which the API server has no answer', 'not now', 503],
] as const)
  test(`the old pool comes back for a new one ${what}`, async () => {
    const of = await toRename()
    const before = pool(of, '198.51.100.20')
    const client = meets(of, ({ metadata }, attempt) => {
      if (attempt > 1 && metadata.name === 'default.late') throw refused(message, status)
    })
    assert.is(await failure(undo(of, [], { client, patienceMs: 20_000 })), message)
    const { uid, metadata, spec } = pool(of, '198.51.100.20')
    assert.is.not(uid, before.uid)
    assert.equal({ metadata, spec }, { metadata: before.metadata, spec: before.spec })
    await undo(of)
    assert.equal(poolNames(of), renamed)
  })

test('the old pool comes back where the answer to its removal is lost, and the new one is refused', async () => {
  const of = await toRename()
  const client = meets(of, ({ metadata }, attempt) => {
    if (attempt > 1 && metadata.name === 'default.late') throw refused(policy)
  })
  const remove: KubeClient['remove'] = async (resource, target) => {
    await client.remove(resource, target)
    if (resource.kind === 'IPAddressPool') throw refused('no answer', 0)
  }
  assert.is(await failure(undo(of, [], { client: { ...client, remove }, patienceMs: 20_000 })), policy)
  assert.ok(poolNames(of).includes('198.51.100.20'))
})

test('a pool that somebody wrote again under the old name meanwhile stays', async () => {
  const of = await toRename()
  const client = meets(of, (_pool, attempt) => {
    const stored = of.api.stored(ipAddressPools).find(({ metadata }) => metadata.name === '198.51.100.20')
    if (attempt === 1 && stored)
      of.api.put(ipAddressPools, { ...stored, metadata: { ...stored.metadata, uid: 'again' } })
  })
  assert.match(await failure(undo(of, [], { client })), 'Conflict')
  assert.is(pool(of, '198.51.100.20').uid, 'again')
})

test('a run that was asleep between two pools renames no more when another one works', async () => {
  const of = await toRename({ services: 2 })
  const client = meets(of, (_pool, attempt) => {
    if (attempt > 1) return
    const lock = of.api.stored(leases).find(({ metadata }) => metadata.name === 'eip-admission-takeover')
    assert.ok(lock)
    of.api.put(leases, { ...lock, spec: { ...lock.spec, holderIdentity: 'bob@desk_takeover-undo_1' } })
    of.state.nowMs += 60_000
  })
  assert.match(await failure(undo(of, [], { client })), 'another run took over')
  assert.equal(poolNames(of), ['198.51.100.21', ...renamed])
})

test.run()
