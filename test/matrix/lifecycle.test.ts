import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { eventually } from '../whole/eventually.ts'
import { finalizer, loadBalancer, reclaim, shown } from '../whole/manifests.ts'
import { shownIn } from '../whole/stored.ts'
import { warned } from '../whole/warned.ts'
import { clusterTest, dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
let product = await stage.startSwept({ env: dialect.here })
const { cloud } = stage
const { calls, faults } = cloud.control

const holds = (address: string | undefined) => stage.reserved().some((one) => one.address === address)
const retained = { annotations: { [reclaim]: 'Retain' } }

async function deleted(name: string, namespace = 'default'): Promise<void> {
  await stage.client.remove(services, { namespace, name })
  await stage.gone(name, namespace)
}

/** Creates a Service while the deleted one of that name may still exist. */
function createdAgain(manifest: object): Promise<true> {
  return eventually('the name is free again', async (observe) => {
    const { code, stderr } = observe(await stage.kubectl(['create', '-f', '-'], manifest))
    if (code !== 0) assert.match(stderr, /object is being deleted: services "[a-z-]+" already exists/)
    return code === 0 || undefined
  })
}

test('a deleted Service leaves no reservation, no record and no finalizer', async () => {
  const { spec } = await stage.create(loadBalancer('short'))
  await stage.settled('short')
  assert.ok(holds(spec.loadBalancerIP))
  await deleted('short')
  assert.not(holds(spec.loadBalancerIP))
})

test('a Service that is deleted at once after its create leaves no reservation', async () => {
  calls.clear()
  for (let n = 0; n < 3; n += 1) {
    await stage.create(loadBalancer('blink'))
    await deleted('blink')
  }
  assert.equal([stage.reserved(), stage.calls(routes.reserve)], [[], 3])
})

clusterTest('a deleted namespace takes the addresses of its Services with it', async () => {
  await stage.run('create', 'namespace', 'project')
  const names = ['a', 'b', 'c']
  for (const name of names) await stage.create(loadBalancer(name, { namespace: 'project' }))
  await stage.run('delete', 'namespace', 'project', '--timeout=120s')
  for (const name of names) await stage.gone(name, 'project')
  assert.equal(stage.reserved(), [])
})

clusterTest('a Service that becomes ClusterIP releases its address, and gets one as a LoadBalancer again', async () => {
  const first = (await stage.create(loadBalancer('flips'))).spec.loadBalancerIP
  await stage.settled('flips')
  await stage.run('patch', 'service', 'flips', '-p', '{"spec":{"type":"ClusterIP"}}')
  const left = await eventually('it is a plain Service again', async (observe) => {
    const [service, record] = observe([await stage.service('flips'), await stage.record('flips')])
    return !record && !service?.metadata.finalizers ? service : undefined
  })
  assert.equal(
    [left?.spec.loadBalancerIP, left?.metadata.annotations, shownIn(left)],
    [undefined, undefined, undefined],
  )
  assert.not(holds(first))
  await stage.run('patch', 'service', 'flips', '-p', '{"spec":{"type":"LoadBalancer"}}')
  assert.ok(holds((await stage.service('flips'))?.spec.loadBalancerIP))
  await stage.settled('flips')
  await deleted('flips')
})

clusterTest('a Service that changes its type repeatedly shows the address that its record holds', async () => {
  const changeType = (type: string): Promise<Service> =>
    stage.client.patch(services, { namespace: 'default', name: 'flutters', patch: { merge: { spec: { type } } } })
  await stage.create(loadBalancer('flutters'))
  for (let n = 0; n < 3; n += 1) {
    await changeType('ClusterIP')
    const { spec } = await changeType('LoadBalancer')
    assert.is(await stage.settled('flutters'), spec.loadBalancerIP, 'the address in the answer is right')
    assert.equal(
      stage.reserved().map(({ address }) => address),
      [spec.loadBalancerIP],
    )
  }
  await deleted('flutters')
})

for (const wait of [true, false]) {
  clusterTest(
    `delete and create within a second, ${wait ? 'waiting' : 'not waiting'} for the end, three times: one address`,
    async () => {
      const manifest = loadBalancer('again')
      await stage.create(manifest)
      for (let n = 0; n < 3; n += 1) {
        await stage.run('delete', 'service', 'again', `--wait=${wait}`)
        await createdAgain(manifest)
      }
      const address = await stage.settled('again')
      assert.equal(
        stage.reserved().map((one) => one.address),
        [address],
      )
      await deleted('again')
      assert.equal(stage.reserved(), [])
    },
  )
}

clusterTest('kubectl replace --force ends with one address', async () => {
  await stage.create(loadBalancer('forced'))
  await stage.run('get', 'service', 'forced')
  const output = await stage.kubectl(['replace', '--force', '-f', '-'], loadBalancer('forced'))
  assert.is(output.code, 0)
  const address = await stage.settled('forced')
  assert.equal(
    stage.reserved().map((one) => one.address),
    [address],
  )
  await deleted('forced')
})

clusterTest('with Retain the address outlives its Service, and the next one of the same name binds it', async () => {
  const { spec } = await stage.create(loadBalancer('keeps', retained))
  await stage.settled('keeps')
  await stage.run('delete', 'service', 'keeps')
  await eventually(
    'the record is Released',
    async () => (await stage.record('keeps'))?.status?.phase === 'Released' || undefined,
  )
  assert.ok(holds(spec.loadBalancerIP))
  calls.clear()
  const again = await stage.create(loadBalancer('keeps', retained))
  assert.is(again.spec.loadBalancerIP, spec.loadBalancerIP)
  assert.is(await stage.settled('keeps'), spec.loadBalancerIP)
  assert.equal(calls.all(), [])
  await stage.run('delete', 'service', 'keeps')
  await eventually(
    'the record is Released',
    async () => (await stage.record('keeps'))?.status?.phase === 'Released' || undefined,
  )
  // A person releases it by deleting its record, as with a PersistentVolume.
  await stage.run('delete', 'eip', 'default.keeps', '--timeout=120s')
  assert.not(holds(spec.loadBalancerIP))
})

clusterTest('an annotation Retain on a stored Service keeps its address after the delete', async () => {
  const { spec } = await stage.create(loadBalancer('later'))
  await stage.settled('later')
  await stage.run('annotate', 'service', 'later', `${reclaim}=Retain`)
  await stage.run('delete', 'service', 'later')
  await eventually('the Service no longer exists', async () => ((await stage.service('later')) ? undefined : true))
  assert.ok(holds(spec.loadBalancerIP), 'the address is still ours')
  assert.is((await stage.record('later'))?.status?.phase, 'Released')
  await stage.run('delete', 'eip', 'default.later', '--timeout=120s')
})

clusterTest('an annotation Delete on a stored Service has its address deleted with it', async () => {
  const { spec } = await stage.create(loadBalancer('lets-go', retained))
  await stage.settled('lets-go')
  await stage.run('annotate', '--overwrite', 'service', 'lets-go', `${reclaim}=Delete`)
  await deleted('lets-go')
  assert.not(holds(spec.loadBalancerIP))
})

clusterTest('a record that is deleted under a live Service stays until the Service is deleted', async () => {
  const { spec } = await stage.create(loadBalancer('robbed'))
  await stage.settled('robbed')
  await stage.run('delete', 'eip', 'default.robbed', '--wait=false')
  await stage.run('label', 'service', 'robbed', 'team=web')
  assert.is(await stage.settled('robbed'), spec.loadBalancerIP)
  assert.ok(holds(spec.loadBalancerIP))
  await deleted('robbed')
  assert.not(holds(spec.loadBalancerIP))
})

test('while the provider is down a deleted Service waits, and an Event says why', async () => {
  const { spec } = await stage.create(loadBalancer('stuck'))
  await stage.settled('stuck')
  faults.add({ on: 'DELETE', answer: 500 })
  await stage.run('delete', 'service', 'stuck', '--wait=false')
  await warned(stage, 'default/stuck', new RegExp(`SyncLoadBalancerFailed.*${dialect.cloudName} answered 500`))
  assert.equal((await stage.service('stuck'))?.metadata.finalizers, [finalizer])
  faults.clear()
  await stage.gone('stuck')
  assert.not(holds(spec.loadBalancerIP))
})

test('a Service does not wait for a cloud that is slow to delete, nor does the next one of its name', async () => {
  cloud.control.setDeletion({ reservationsMs: 600_000 })
  const { spec } = await stage.create(loadBalancer('slow-end'))
  await stage.settled('slow-end')
  const [{ id } = {}] = stage.reserved()
  await deleted('slow-end')
  assert.equal(stage.reserved(), [])
  assert.ok(cloud.control.reservations.deleting().includes(id ?? ''))
  assert.match(await stage.run('get', 'eip'), new RegExp(`releasing-\\S+ +${spec.loadBalancerIP}.* Releasing`))
  const again = await stage.create(loadBalancer('slow-end'))
  assert.is.not(again.spec.loadBalancerIP, spec.loadBalancerIP)
  assert.is(await stage.settled('slow-end'), again.spec.loadBalancerIP)
  await deleted('slow-end')
})

clusterTest(
  'deletions wait while the product is down, and the next start carries them out: protected ones are retained',
  async () => {
    const { spec } = await stage.create(loadBalancer('orphaned'))
    const dear = await stage.create(loadBalancer('dear', { annotations: { 'eip-admission.dev/protect': 'true' } }))
    for (const name of ['orphaned', 'dear']) await stage.settled(name)
    await product.stop()
    // No replica answers, and the failure policy admits both.
    await stage.run('delete', 'service', 'orphaned', 'dear', '--wait=false')
    for (const name of ['orphaned', 'dear']) assert.ok((await stage.service(name))?.metadata.deletionTimestamp)
    product = await stage.startSwept({ env: dialect.here })
    await stage.gone('orphaned')
    await eventually('the protected Service no longer exists', async () =>
      (await stage.service('dear')) ? undefined : true,
    )
    assert.equal(
      [spec, dear.spec].map(({ loadBalancerIP }) => holds(loadBalancerIP)),
      [false, true],
    )
    assert.is((await stage.record('dear'))?.status?.phase, 'Released')
    await stage.run('delete', 'eip', 'default.dear', '--timeout=120s')
  },
)

clusterTest('Events on a Service have the reasons that dashboards use', async () => {
  await stage.create(loadBalancer('events'))
  await stage.settled('events')
  const reasonsWith = (last: string) =>
    eventually(`an Event ${last}`, async (observe) => {
      const jsonpath = '-o=jsonpath={range .items[*]}{.reason}{"\\n"}{end}'
      const output = observe(await stage.run('get', 'events', '--field-selector=involvedObject.name=events', jsonpath))
      return output.includes(last) ? output.trim().split('\n') : undefined
    })
  await reasonsWith('EnsuredLoadBalancer')
  await deleted('events')
  const reasons = await reasonsWith('DeletedLoadBalancer')
  assert.equal(reasons.toSorted(), ['DeletedLoadBalancer', 'DeletingLoadBalancer', 'EnsuredLoadBalancer'])
  assert.is((await stage.service('events'))?.metadata.annotations?.[shown], undefined)
})

test.after(async () => {
  const left = stage.reserved()
  await stage.close()
  assert.equal(left, [])
})

test.run()
