import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { finalizer, loadBalancer, shown } from '../whole/manifests.ts'
import { shownIn } from '../whole/stored.ts'
import { dialect, openWorld } from './dialect.ts'

const world = await openWorld()
const settings = dialect.here
const flags = ['--exclude-namespaces=off-limits']
let product = await world.startSwept({ env: settings, flags })
const { calls } = world.cloud.door

test('a Service keeps and shows its own address, and the cloud is not called, even when it is deleted', async () => {
  calls.clear()
  const own = '198.51.100.7'
  const created = await world.create(loadBalancer('own', { spec: { loadBalancerIP: own } }))
  assert.equal([created.spec.loadBalancerIP, created.metadata.finalizers], [own, [finalizer]])
  await eventually('its status shows the address', async () => shownIn(await world.service('own')))
  assert.is(shownIn(await world.service('own')), own)
  assert.is(await world.record('own'), undefined)
  await world.must('delete', 'service', 'own')
  assert.equal([await world.service('own'), calls.all()], [undefined, []])
})

test('an own address on a Service with a reserved address is refused, and nothing changes', async () => {
  const { spec } = await world.create(loadBalancer('brings'))
  await world.settled('brings')
  const patch = ['patch', 'service', 'brings', '-p', '{"spec":{"loadBalancerIP":"198.51.100.8"}}']
  const { code, stderr } = await world.kubectl(patch)
  assert.is(code, 1)
  assert.match(stderr, `"198.51.100.8" cannot take the place of ${spec.loadBalancerIP}, which is reserved for it`)
  assert.is(await world.settled('brings'), spec.loadBalancerIP)
})

test('kubectl replace without the own address returns the Service with a reserved one', async () => {
  await world.create(loadBalancer('takes', { spec: { loadBalancerIP: '198.51.100.9' } }))
  await eventually('theirs is shown', async () => shownIn(await world.service('takes')))
  const replaced = await world.send(['replace'], loadBalancer('takes'))
  assert.ok(world.reserved().some(({ address }) => address === replaced.spec.loadBalancerIP))
  assert.is(await world.settled('takes'), replaced.spec.loadBalancerIP)
})

const others = [
  { name: 'another-class', spec: { loadBalancerClass: 'example.com/other' } },
  { name: 'cluster-ip', spec: { type: 'ClusterIP' } },
  { name: 'node-port', spec: { type: 'NodePort' } },
  { name: 'external-name', spec: { type: 'ExternalName', externalName: 'example.com', ports: undefined } },
  { name: 'excluded', namespace: 'off-limits', spec: {} },
  { name: dialect.controlPlaneService, namespace: 'kube-system', spec: {} },
]
await world.must('create', 'namespace', 'off-limits')
for (const { name, namespace = 'default', spec } of others) {
  test(`a Service that is not ours is left alone: ${name}`, async () => {
    calls.clear()
    const created = await world.create(loadBalancer(name, { namespace, spec }))
    assert.equal([created.metadata.finalizers, created.spec.loadBalancerIP], [undefined, undefined])
    // A Service that is ours, made later and settled, says that this one was looked at.
    await world.create(loadBalancer(`after-${name.slice(0, 20)}`))
    await world.settled(`after-${name.slice(0, 20)}`)
    const { metadata, spec: after } = (await world.service(name, namespace)) ?? {}
    assert.equal([metadata?.resourceVersion, after?.loadBalancerIP], [created.metadata.resourceVersion, undefined])
    assert.is(calls.count('POST'), 1)
    await world.must('delete', 'service', name, '-n', namespace, '--timeout=5s')
  })
}

test('with load balancing off new Services are left alone, and others keep their addresses', async () => {
  const address = (await world.create(loadBalancer('before'))).spec.loadBalancerIP
  await world.settled('before')
  await product.stop()
  product = await world.startSwept({ env: { ...settings, [dialect.loadBalancer]: 'none' }, flags })
  calls.clear()
  const created = await world.create(loadBalancer('during'))
  assert.equal([created.metadata.finalizers, created.spec.loadBalancerIP], [undefined, undefined])
  await world.must('label', 'service', 'before', 'team=web')
  assert.is(await world.settled('before'), address)
  assert.is(calls.count('POST'), 0)
  assert.is(calls.count('DELETE'), 0)
})

test('with load balancing off a deleted Service releases its address', async () => {
  const address = (await world.service('before'))?.spec.loadBalancerIP
  await world.must('delete', 'service', 'before')
  await world.gone('before')
  assert.not(world.reserved().some((one) => one.address === address))
})

test('with load balancing on again waiting Services get their addresses', async () => {
  await product.stop()
  product = await world.startSwept({ env: settings, flags })
  const address = await world.settled('during')
  assert.is((await world.service('during'))?.metadata.annotations?.[shown], address)
})

test.after(() => world.close())

test.run()
