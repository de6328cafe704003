import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import { finalizer, loadBalancer, shown, unnamed } from '../whole/manifests.ts'
import { dialect, openStage, routes } from './dialect.ts'

const stage = await openStage()
await stage.startSwept({ env: dialect.here })
const { calls } = stage.cloud.control

/** Checks a Service as the terminal gets it, and the calls that it may have cost. */
function hasAddress(service: Service): void {
  const { loadBalancerIP } = service.spec
  const { annotations, finalizers } = service.metadata
  assert.ok(
    stage.reserved().some(({ address }) => address === loadBalancerIP),
    `${loadBalancerIP} is reserved`,
  )
  assert.equal(annotations?.[shown], loadBalancerIP)
  assert.equal(finalizers, [finalizer])
  assert.equal([stage.calls(routes.list), stage.calls(routes.reserve)], [0, 1], 'one call to the provider, no list')
}

const ways = [
  { name: 'create', verb: ['create'] },
  { name: 'apply', verb: ['apply'] },
  { name: 'apply-ssa', verb: ['apply', '--server-side'] },
]
for (const { name, verb } of ways) {
  test(`the address is in what kubectl ${verb.join(' ')} returns`, async () => {
    calls.clear()
    hasAddress(await stage.send(verb, loadBalancer(name)))
    await stage.settled(name)
    assert.is(stage.calls(routes.reserve), 1)
  })
}

test('kubectl patch to type LoadBalancer returns the Service with its address', async () => {
  await stage.create(loadBalancer('patched', { spec: { type: 'ClusterIP' } }))
  calls.clear()
  const patch = ['patch', 'service', 'patched', '-p', '{"spec":{"type":"LoadBalancer"}}', '-o', 'json']
  hasAddress(JSON.parse(await stage.run(...patch)) as Service)
  await stage.settled('patched')
})

test('kubectl replace to type LoadBalancer returns the Service with its address', async () => {
  await stage.create(loadBalancer('replaced', { spec: { type: 'ClusterIP' } }))
  calls.clear()
  hasAddress(await stage.send(['replace'], loadBalancer('replaced')))
  await stage.settled('replaced')
})

test('kubectl replace with the original manifest keeps address, annotation and finalizer, and the provider is not called', async () => {
  const { spec } = await stage.create(loadBalancer('kept'))
  const address = await stage.settled('kept')
  calls.clear()
  const { metadata, ...after } = await stage.send(['replace'], loadBalancer('kept'))
  assert.equal([after.spec.loadBalancerIP, spec.loadBalancerIP], [address, address])
  assert.equal([metadata.annotations?.[shown], metadata.finalizers], [address, [finalizer]])
  await stage.settled('kept')
  assert.equal(calls.all(), [])
})

test('an edit that removes finalizer, address and annotation is undone', async () => {
  const address = (await stage.create(loadBalancer('edited'))).spec.loadBalancerIP
  await stage.settled('edited')
  calls.clear()
  await stage.run('patch', 'service', 'edited', '--type=json', '-p', '[{"op":"remove","path":"/metadata/finalizers"}]')
  await stage.run('patch', 'service', 'edited', '-p', '{"spec":{"loadBalancerIP":null}}')
  await stage.run('annotate', 'service', 'edited', `${shown}-`)
  assert.is(await stage.settled('edited'), address)
  const { metadata } = (await stage.service('edited')) ?? {}
  assert.equal([metadata?.finalizers, metadata?.annotations?.[shown]], [[finalizer], address])
  assert.equal(calls.all(), [])
})

test('with generateName the Service is stored under the name of its record', async () => {
  calls.clear()
  const service = await stage.create(unnamed('many-'))
  const { name } = service.metadata
  assert.match(name, /^many-[a-z0-9]{5}$/)
  hasAddress(service)
  assert.is(await stage.settled(name), service.spec.loadBalancerIP)
})

test('Services of one name in two namespaces have one address each', async () => {
  await stage.run('create', 'namespace', 'other')
  const here = await stage.create(loadBalancer('twin'))
  const there = await stage.create(loadBalancer('twin', { namespace: 'other' }))
  assert.is.not(here.spec.loadBalancerIP, there.spec.loadBalancerIP)
  await stage.run('delete', 'service', 'twin')
  await stage.gone('twin')
  assert.is(await stage.settled('twin', 'other'), there.spec.loadBalancerIP)
})

test('kubectl get eip shows address, location, phase, Service and age', async () => {
  const { spec } = await stage.create(loadBalancer('listed'))
  await stage.settled('listed')
  const [header = '', line = ''] = (await stage.run('get', 'eip', 'default.listed')).trim().split('\n')
  const names = ['NAME', 'ADDRESS', 'LOCATION', 'PHASE', 'READY', 'REASON', 'RECLAIM', 'NAMESPACE', 'SERVICE', 'AGE']
  assert.equal(header.split(/\s{2,}/), names)
  const [, ...columns] = line.split(/\s{2,}/)
  const { loadBalancerIP: address } = spec
  assert.equal(columns.slice(0, -1), [address, dialect.place, 'Bound', 'True', 'Bound', 'Delete', 'default', 'listed'])
})

test('kubectl create of an existing name fails as usual, and the provider is not called', async () => {
  const address = (await stage.create(loadBalancer('taken'))).spec.loadBalancerIP
  await stage.settled('taken')
  calls.clear()
  const { code, stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer('taken'))
  assert.is(code, 1)
  assert.match(stderr, 'services "taken" already exists')
  assert.equal(calls.all(), [])
  assert.is(await stage.settled('taken'), address)
})

test('a copy of a stored Service under another name gets an address of its own', async () => {
  const original = await stage.create(loadBalancer('original'))
  const { annotations } = original.metadata
  const { loadBalancerIP } = original.spec
  const copy = await stage.create(loadBalancer('copy', { annotations: { ...annotations }, spec: { loadBalancerIP } }))
  assert.is.not(copy.spec.loadBalancerIP, loadBalancerIP)
  assert.is(await stage.settled('copy'), copy.spec.loadBalancerIP)
  assert.is(await stage.settled('original'), loadBalancerIP)
})

const doomed = [
  { name: 'headless', spec: { clusterIP: 'None' } },
  { name: 'portless', spec: { ports: [] } },
  { name: 'dot.ted', spec: {} },
]
for (const { name, spec } of doomed) {
  test(`a Service that the API server refuses (${name}) is refused in its words, and nothing is reserved`, async () => {
    calls.clear()
    const { code, stderr } = await stage.kubectl(['create', '-f', '-'], loadBalancer(name, { spec }))
    assert.is(code, 1)
    assert.match(stderr, /The Service "[a-z.]+" is invalid/)
    assert.equal(calls.all(), [])
    assert.is(await stage.record(name), undefined)
  })
}

test.after(() => stage.close())

test.run()
