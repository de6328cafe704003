import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from '../whole/eventually.ts'
import { finalizer, loadBalancer, shown } from '../whole/manifests.ts'
import { shownIn } from '../whole/stored.ts'
import { once } from '../whole/once.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const settings = dialect.here
const flags = ['--exclude-namespaces=off-limits', '--own-address-ranges=198.51.100.0/24']
let product = await stage.startSwept({ env: settings, flags })
const { calls } = stage.cloud.control

test('a Service keeps and shows its own address, and the provider is not called, even when it is deleted', async () => {
  calls.clear()
  const own = '198.51.100.7'
  const created = await stage.create(loadBalancer('own', { spec: { loadBalancerIP: own } }))
  assert.equal([created.spec.loadBalancerIP, created.metadata.finalizers], [own, [finalizer]])
  await eventually('its status shows the address', async () => shownIn(await stage.service('own')))
  assert.is(shownIn(await stage.service('own')), own)
  assert.is(await stage.record('own'), undefined)
  await stage.run('delete', 'service', 'own')
  assert.equal([await stage.service('own'), calls.all()], [undefined, []])
})

test('a user-chosen address on a Service with a reserved address is refused, and nothing changes', async () => {
  const { spec } = await stage.create(loadBalancer('brings'))
  await stage.settled('brings')
  const patch = ['patch', 'service', 'brings', '-p', '{"spec":{"loadBalancerIP":"198.51.100.8"}}']
  const { code, stderr } = await stage.kubectl(patch)
  assert.is(code, 1)
  assert.match(stderr, `"198.51.100.8" cannot replace ${spec.loadBalancerIP}, which is reserved for it`)
  assert.is(await stage.settled('brings'), spec.loadBalancerIP)
})

test('kubectl replace without the own address returns the Service with a reserved one', async () => {
  await stage.create(loadBalancer('takes', { spec: { loadBalancerIP: '198.51.100.9' } }))
  await eventually('theirs is shown', async () => shownIn(await stage.service('takes')))
  const replaced = await stage.send(['replace'], loadBalancer('takes'))
  assert.ok(stage.reserved().some(({ address }) => address === replaced.spec.loadBalancerIP))
  assert.is(await stage.settled('takes'), replaced.spec.loadBalancerIP)
})

const others = [
  { name: 'another-class', spec: { loadBalancerClass: 'example.com/other' } },
  { name: 'cluster-ip', spec: { type: 'ClusterIP' } },
  { name: 'node-port', spec: { type: 'NodePort' } },
  { name: 'external-name', spec: { type: 'ExternalName', externalName: 'example.com', ports: undefined } },
  { name: 'excluded', namespace: 'off-limits', spec: {} },
  { name: dialect.controlPlaneService, namespace: 'kube-system', spec: {} },
]
await stage.run('create', 'namespace', 'off-limits')
for (const { name, namespace = 'default', spec } of others) {
  test(`a Service that is not ours is left alone: ${name}`, async () => {
    calls.clear()
    const created = await stage.create(loadBalancer(name, { namespace, spec }))
    assert.equal([created.metadata.finalizers, created.spec.loadBalancerIP], [undefined, undefined])
    // When a later Service of ours has settled, the controller has seen this one, too.
    await stage.create(loadBalancer(`after-${name.slice(0, 20)}`))
    await stage.settled(`after-${name.slice(0, 20)}`)
    const { metadata, spec: after } = (await stage.service(name, namespace)) ?? {}
    assert.equal([metadata?.resourceVersion, after?.loadBalancerIP], [created.metadata.resourceVersion, undefined])
    assert.is(calls.count('POST'), 1)
    await stage.run('delete', 'service', name, '-n', namespace, '--timeout=120s')
  })
}

/** Service `before` has its address, then load balancing is switched off. */
const switchOff = once(async () => {
  await stage.create(loadBalancer('before'))
  const address = await stage.settled('before')
  await product.stop()
  product = await stage.startSwept({ env: { ...settings, [dialect.loadBalancer]: 'none' }, flags })
  return address
})

test('with load balancing off new Services are left alone, and others keep their addresses', async () => {
  const address = await switchOff()
  calls.clear()
  const created = await stage.create(loadBalancer('during'))
  assert.equal([created.metadata.finalizers, created.spec.loadBalancerIP], [undefined, undefined])
  await stage.run('label', 'service', 'before', 'team=web')
  assert.is(await stage.settled('before'), address)
  assert.is(calls.count('POST'), 0)
  assert.is(calls.count('DELETE'), 0)
})

test('with load balancing off a deleted Service releases its address', async () => {
  const address = await switchOff()
  await stage.run('delete', 'service', 'before')
  await stage.gone('before')
  assert.not(stage.reserved().some((one) => one.address === address))
})

test('with load balancing on again waiting Services get their addresses', async () => {
  await switchOff()
  await stage.create(loadBalancer('waiting'))
  await product.stop()
  product = await stage.startSwept({ env: settings, flags })
  const address = await stage.settled('waiting')
  assert.is((await stage.service('waiting'))?.metadata.annotations?.[shown], address)
})

test.after(() => stage.close())

test.run()
