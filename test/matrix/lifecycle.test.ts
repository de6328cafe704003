import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { finalizer, loadBalancer, reclaim, shown } from '../whole/manifests.ts'
import { shownIn } from '../whole/stored.ts'
import { routes } from '../whole/world.ts'
import { dialect, openWorld } from './dialect.ts'

const world = await openWorld()
let product = await world.startSwept({ env: dialect.here })
const { cloud } = world
const { calls, faults } = cloud.door

const holds = (address: string | undefined) => world.reserved().some((one) => one.address === address)
const retained = { annotations: { [reclaim]: 'Retain' } }

async function deleted(name: string, namespace = 'default'): Promise<void> {
  await world.must('delete', 'service', name, '-n', namespace, '--timeout=20s')
  await world.gone(name, namespace)
}

/** Creates a Service while its predecessor may still be on its way out. */
function createdAgain(manifest: object): Promise<true> {
  return eventually('the name is free again', async (see) => {
    const { code, stderr } = see(await world.kubectl(['create', '-f', '-'], manifest))
    if (code !== 0) assert.match(stderr, /object is being deleted: services "[a-z-]+" already exists/)
    return code === 0 || undefined
  })
}

test('a deleted Service leaves no reservation, no record and no finalizer', async () => {
  const { spec } = await world.create(loadBalancer('short'))
  await world.settled('short')
  assert.ok(holds(spec.loadBalancerIP))
  await deleted('short')
  assert.not(holds(spec.loadBalancerIP))
})

test('a Service that is deleted at once after its create leaves no reservation', async () => {
  calls.clear()
  for (let n = 0; n < 3; n += 1) {
    await world.create(loadBalancer('blink'))
    await deleted('blink')
  }
  assert.equal([world.reserved(), world.calls(routes.reserve)], [[], 3])
})

test('a deleted namespace takes the addresses of its Services with it', async () => {
  await world.must('create', 'namespace', 'project')
  const names = ['a', 'b', 'c']
  for (const name of names) await world.create(loadBalancer(name, { namespace: 'project' }))
  await world.must('delete', 'namespace', 'project', '--timeout=30s')
  for (const name of names) await world.gone(name, 'project')
  assert.equal(world.reserved(), [])
})

test('a Service that becomes ClusterIP releases its address, and gets one as a LoadBalancer again', async () => {
  const first = (await world.create(loadBalancer('flips'))).spec.loadBalancerIP
  await world.settled('flips')
  await world.must('patch', 'service', 'flips', '-p', '{"spec":{"type":"ClusterIP"}}')
  const left = await eventually('it is a plain Service again', async (see) => {
    const [service, record] = see([await world.service('flips'), await world.record('flips')])
    return !record && !service?.metadata.finalizers ? service : undefined
  })
  assert.equal(
    [left?.spec.loadBalancerIP, left?.metadata.annotations, shownIn(left)],
    [undefined, undefined, undefined],
  )
  assert.not(holds(first))
  await world.must('patch', 'service', 'flips', '-p', '{"spec":{"type":"LoadBalancer"}}')
  assert.ok(holds((await world.service('flips'))?.spec.loadBalancerIP))
  await world.settled('flips')
  await deleted('flips')
})

test('a Service that changes its type repeatedly shows the address that its record holds', async () => {
  await world.create(loadBalancer('flutters'))
  for (let n = 0; n < 6; n += 1) {
    await world.must('patch', 'service', 'flutters', '-p', '{"spec":{"type":"ClusterIP"}}')
    const patch = ['patch', 'service', 'flutters', '-p', '{"spec":{"type":"LoadBalancer"}}', '-o', 'json']
    const { spec } = JSON.parse(await world.must(...patch)) as { spec: { loadBalancerIP?: string } }
    assert.is(await world.settled('flutters'), spec.loadBalancerIP, 'the terminal said the truth')
    assert.equal(
      world.reserved().map(({ address }) => address),
      [spec.loadBalancerIP],
    )
  }
  await deleted('flutters')
})

for (const wait of [true, false]) {
  test(`delete and create within a second, ${wait ? 'waiting' : 'not waiting'} for the end, five times: one address`, async () => {
    const manifest = loadBalancer('again')
    await world.create(manifest)
    for (let n = 0; n < 5; n += 1) {
      await world.must('delete', 'service', 'again', `--wait=${wait}`)
      await createdAgain(manifest)
    }
    const address = await world.settled('again')
    assert.equal(
      world.reserved().map((one) => one.address),
      [address],
    )
    await deleted('again')
    assert.equal(world.reserved(), [])
  })
}

test('kubectl replace --force ends with one address', async () => {
  await world.create(loadBalancer('forced'))
  await world.must('get', 'service', 'forced')
  const said = await world.kubectl(['replace', '--force', '-f', '-'], loadBalancer('forced'))
  assert.is(said.code, 0)
  const address = await world.settled('forced')
  assert.equal(
    world.reserved().map((one) => one.address),
    [address],
  )
  await deleted('forced')
})

test('with Retain the address outlives its Service, and the next one of the same name binds it', async () => {
  const { spec } = await world.create(loadBalancer('keeps', retained))
  await world.settled('keeps')
  await world.must('delete', 'service', 'keeps')
  await eventually(
    'the record is Released',
    async () => (await world.record('keeps'))?.status?.phase === 'Released' || undefined,
  )
  assert.ok(holds(spec.loadBalancerIP))
  calls.clear()
  const again = await world.create(loadBalancer('keeps', retained))
  assert.is(again.spec.loadBalancerIP, spec.loadBalancerIP)
  assert.is(await world.settled('keeps'), spec.loadBalancerIP)
  assert.equal(calls.all(), [])
  await world.must('delete', 'service', 'keeps')
  await eventually(
    'the record is Released',
    async () => (await world.record('keeps'))?.status?.phase === 'Released' || undefined,
  )
  // A person gives it back by deleting its record, as a PersistentVolume.
  await world.must('delete', 'eip', 'default.keeps', '--timeout=10s')
  assert.not(holds(spec.loadBalancerIP))
})

test('an annotation Retain on a stored Service keeps its address after the delete', async () => {
  const { spec } = await world.create(loadBalancer('later'))
  await world.settled('later')
  await world.must('annotate', 'service', 'later', `${reclaim}=Retain`)
  await world.must('delete', 'service', 'later')
  await eventually('the Service is gone', async () => ((await world.service('later')) ? undefined : true))
  assert.ok(holds(spec.loadBalancerIP), 'the address is still ours')
  assert.is((await world.record('later'))?.status?.phase, 'Released')
  await world.must('delete', 'eip', 'default.later', '--timeout=10s')
})

test('an annotation Delete on a stored Service has its address deleted with it', async () => {
  const { spec } = await world.create(loadBalancer('lets-go', retained))
  await world.settled('lets-go')
  await world.must('annotate', '--overwrite', 'service', 'lets-go', `${reclaim}=Delete`)
  await deleted('lets-go')
  assert.not(holds(spec.loadBalancerIP))
})

test('a record that is deleted under a live Service stays until the Service is deleted', async () => {
  const { spec } = await world.create(loadBalancer('robbed'))
  await world.settled('robbed')
  await world.must('delete', 'eip', 'default.robbed', '--wait=false')
  await world.must('label', 'service', 'robbed', 'team=web')
  assert.is(await world.settled('robbed'), spec.loadBalancerIP)
  assert.ok(holds(spec.loadBalancerIP))
  await deleted('robbed')
  assert.not(holds(spec.loadBalancerIP))
})

test('while the cloud is down a deleted Service waits, and an Event says why', async () => {
  const { spec } = await world.create(loadBalancer('stuck'))
  await world.settled('stuck')
  faults.add({ on: 'DELETE', answer: 500 })
  await world.must('delete', 'service', 'stuck', '--wait=false')
  await eventually('an Event says why', async (see) => {
    const events = await world.must('get', 'events', '--field-selector=involvedObject.name=stuck')
    return new RegExp(`SyncLoadBalancerFailed.*${dialect.cloudName} answered 500`).test(see(events)) || undefined
  })
  assert.equal((await world.service('stuck'))?.metadata.finalizers, [finalizer])
  faults.clear()
  await world.gone('stuck')
  assert.not(holds(spec.loadBalancerIP))
})

test('a Service does not wait for a cloud that is slow to delete, nor does the next one of its name', async () => {
  cloud.door.setDeletion({ reservationsMs: 600_000 })
  const { spec } = await world.create(loadBalancer('slow-end'))
  await world.settled('slow-end')
  const [{ id } = {}] = world.reserved()
  await deleted('slow-end')
  assert.equal(world.reserved(), [])
  assert.ok(cloud.door.reservations.leaving().includes(id ?? ''))
  assert.match(await world.must('get', 'eip'), new RegExp(`releasing-\\S+ +${spec.loadBalancerIP}.* Releasing`))
  const again = await world.create(loadBalancer('slow-end'))
  assert.is.not(again.spec.loadBalancerIP, spec.loadBalancerIP)
  assert.is(await world.settled('slow-end'), again.spec.loadBalancerIP)
  await deleted('slow-end')
})

test('a deletion waits while the product is down, and is carried out at the next start', async () => {
  const { spec } = await world.create(loadBalancer('orphaned'))
  await world.settled('orphaned')
  await product.stop()
  await world.must('delete', 'service', 'orphaned', '--wait=false')
  assert.ok((await world.service('orphaned'))?.metadata.deletionTimestamp)
  product = await world.startSwept({ env: dialect.here })
  await world.gone('orphaned')
  assert.not(holds(spec.loadBalancerIP))
})

test('Events on a Service have the reasons that dashboards use', async () => {
  await world.create(loadBalancer('told'))
  await world.settled('told')
  await deleted('told')
  const reasons = await eventually('four Events', async (see) => {
    const jsonpath = '-o=jsonpath={range .items[*]}{.reason}{"\\n"}{end}'
    const said = see(await world.must('get', 'events', '--field-selector=involvedObject.name=told', jsonpath))
    return said.includes('DeletedLoadBalancer') ? said.trim().split('\n') : undefined
  })
  assert.equal(reasons.toSorted(), ['DeletedLoadBalancer', 'DeletingLoadBalancer', 'EnsuredLoadBalancer'])
  assert.is((await world.service('told'))?.metadata.annotations?.[shown], undefined)
})

test.after(async () => {
  const left = world.reserved()
  await world.close()
  assert.equal(left, [])
})

test.run()
