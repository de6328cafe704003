// Clusters whose Services have IPv6 addresses, on real API servers. A Service gets one address from the cloud. So one that
// nothing would announce is refused before an address is reserved.
import { isIPv4 } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventually } from './eventually.ts'
import { type Facts, loadBalancer } from './manifests.ts'
import { simulatedNodes } from './simulated-nodes.ts'
import { shownIn } from './stored.ts'
import { type TestStage, openStage, routes } from './test-stage.ts'

const env = { METAL_METRO_NAME: 'da' }
const metallb = { ...env, METAL_LOAD_BALANCER: 'metallb:///' }
const serviceRanges = ['10.96.0.0/16', 'fd00:96::/112']
const [dual, six, both] = await Promise.all([
  openStage({ serviceRanges }),
  openStage({ serviceRanges: ['fd00:96::/112'] }),
  openStage({ dialect: 'hetzner', serviceRanges }),
])
let product = await dual.start({ env: metallb })
await both.startSwept({ env: { HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///?probe=off' } })
await six.start({ env, flags: ['--own-address-ranges=2001:db8:1::/64'] })

/** Sends a Service that has to be refused, as a dry run and as it is, and returns why. Nothing may be reserved. */
async function refusal(
  stage: Pick<TestStage, 'kubectl' | 'cloud' | 'calls' | 'record'>,
  facts: Facts,
): Promise<string> {
  const send = (...flags: string[]) => stage.kubectl(['create', '-f', '-', ...flags], loadBalancer('refused', facts))
  stage.cloud.control.calls.clear()
  const dry = await send('--dry-run=server')
  const { code, stderr } = await send()
  assert.equal([dry.code, code, stage.calls(routes.reserve)], [1, 1, 0])
  assert.is(await stage.record('refused'), undefined)
  const [before, said = ''] = [dry.stderr, stderr].map((text) => text.replaceAll(/ \(request [0-9a-f]{8}\)/g, ''))
  assert.is(before, said)
  return said
}

const reserves = async (stage: TestStage, name: string, facts: Facts = {}) => {
  const { spec } = await stage.create(loadBalancer(name, facts))
  assert.ok(spec.loadBalancerIP)
  return spec
}
const prefers = { ipFamilyPolicy: 'PreferDualStack' }

test('in a cluster with two families MetalLB gets no Service with both', async () => {
  assert.match(
    await refusal(dual, { spec: prefers }),
    '"PreferDualStack" with two families: MetalLB announces no single',
  )
  assert.match(
    await refusal(dual, { spec: { ...prefers, ipFamilies: ['IPv4'] } }),
    '"PreferDualStack" with two families',
  )
  assert.match(await refusal(dual, { spec: { ipFamilies: ['IPv4', 'IPv6'] } }), '"RequireDualStack" requests')
  assert.match(await refusal(dual, { spec: { ipFamilies: ['IPv6'] } }), '"IPv6" requests an IPv6 address')
})

test('nor by an update', async () => {
  await dual.create(loadBalancer('internal', { spec: { type: 'ClusterIP' } }))
  dual.cloud.control.calls.clear()
  const patch = JSON.stringify({ spec: { type: 'LoadBalancer', ...prefers } })
  const { code, stderr } = await dual.kubectl(['patch', 'service', 'internal', '-p', patch])
  assert.is(code, 1)
  assert.match(stderr, '"PreferDualStack" with two families')
  assert.is(dual.calls(routes.reserve), 0)
})

test('a Service of one family gets its address there', async () => {
  assert.equal((await reserves(dual, 'plain')).ipFamilies, ['IPv4'])
  await dual.create(loadBalancer('kept', { spec: { type: 'ClusterIP', ...prefers } }))
  const single = { type: 'LoadBalancer', ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] }
  await dual.run('patch', 'service', 'kept', '-p', JSON.stringify({ spec: single }))
  assert.ok((await dual.service('kept'))?.spec.loadBalancerIP)
})

test('other software announces one address for both', async () => {
  await product.stop()
  product = await dual.start({ env })
  assert.equal((await reserves(dual, 'both', { spec: prefers })).ipFamilies, ['IPv4', 'IPv6'])
})

test('in a cluster with IPv6 alone a Service that names no family is refused', async () => {
  for (const spec of [{}, prefers, { ipFamilyPolicy: 'SingleStack' }])
    assert.match(await refusal(six, { spec }), 'spec.ipFamilies: "IPv6" requests an IPv6 address')
  const own = await six.create(loadBalancer('own', { spec: { loadBalancerIP: '2001:db8:1::7' } }))
  assert.equal(own.spec.ipFamilies, ['IPv6'])
})

test('where the cloud has both families a Service gets an address of its own family, which leads to a node', async () => {
  const { control } = both.cloud
  const device = control.devices.add({ hostname: 'a' }) as { id: number; private_net: { ip: string }[] }
  const { register, settled, say } = simulatedNodes(both)
  await register('a', { nodeIp: device.private_net[0]?.ip ?? '' })
  await settled('a')
  await say('a', 'True')
  const ipv6 = { spec: { ipFamilies: ['IPv6'] } }
  const [plain, named] = await Promise.all([both.create(loadBalancer('plain')), both.create(loadBalancer('six', ipv6))])
  assert.match(plain.spec.loadBalancerIP ?? '', /^203\.0\.113\.\d+$/)
  assert.match(named.spec.loadBalancerIP ?? '', /^2001:db8:.*::1$/)
  for (const { metadata, spec } of [plain, named]) {
    const shows = async () => shownIn(await both.service(metadata.name)) === spec.loadBalancerIP || undefined
    await eventually('its status shows the address', shows)
    assert.is(control.route(spec.loadBalancerIP ?? ''), String(device.id))
  }
  assert.is((await both.record('six'))?.spec.ipFamily, 'IPv6')
  assert.match(await both.run('get', 'eip'), named.spec.loadBalancerIP ?? '')
})

test('there an address goes when its Service is deleted, and a Service of that name gets one of its own family', async () => {
  const address = (await both.service('six'))?.spec.loadBalancerIP ?? ''
  await both.run('delete', 'service', 'six')
  await eventually('it is released', () => both.cloud.control.route(address) === undefined || undefined)
  const { spec } = await both.create(loadBalancer('six'))
  assert.match(spec.loadBalancerIP ?? '', /^203\.0\.113\.\d+$/)
  await eventually('the project has two addresses', () => both.reserved().length === 2 || undefined)
})

test('there a Service that requires both is refused, and one that prefers both gets an IPv4 address', async () => {
  const required = { ipFamilyPolicy: 'RequireDualStack' }
  assert.match(await refusal(both, { spec: required }), /"RequireDualStack" requests.*\["IPv4"\] or \["IPv6"\]/)
  const { spec } = await both.create(loadBalancer('prefers', { spec: { ...prefers, ipFamilies: ['IPv6', 'IPv4'] } }))
  assert.equal([spec.ipFamilies, isIPv4(spec.loadBalancerIP ?? '')], [['IPv6', 'IPv4'], true])
})

test.after(async () => {
  await both.close()

  await dual.close()
  await six.close()
})

test.run()
