// Clusters whose Services have IPv6 addresses, on real API servers. If the cloud has one family, a Service that nothing
// would announce is refused before an address is reserved. If it has both, a Service has one address or two.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ingressOf } from '../../kube/objects.ts'
import { eventually } from './eventually.ts'
import { runPlugin } from '../../kubectl-eip/program.ts'
import { type Facts, chosen, loadBalancer, reclaim } from './manifests.ts'
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

/**
 * Sends a Service that must be refused, as a dry run and as a real create, and returns why. Nothing may be reserved.
 */
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
    '"PreferDualStack" with two families: the announcing software cannot announce a single',
  )
  assert.match(
    await refusal(dual, { spec: { ...prefers, ipFamilies: ['IPv4'] } }),
    '"PreferDualStack" with two families',
  )
  assert.match(await refusal(dual, { spec: { ipFamilyPolicy: 'RequireDualStack' } }), '"RequireDualStack" requests')
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

test('nor by a replacement that names no family', async () => {
  await dual.create(loadBalancer('replaced', { spec: { type: 'ClusterIP', ...prefers } }))
  dual.cloud.control.calls.clear()
  const { code, stderr } = await dual.kubectl(['replace', '-f', '-'], loadBalancer('replaced'))
  assert.match(stderr, '"PreferDualStack" with two families')
  assert.equal([code, dual.calls(routes.reserve)], [1, 0])
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

test('where the provider has both families a Service gets an address of its own family, which leads to a node', async () => {
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

const required = { ipFamilyPolicy: 'RequireDualStack' }

test('where the API server refuses the families of a Service, nothing is reserved', async () => {
  const words = /must be 'RequireDualStack' or 'PreferDualStack'/
  for (const stage of [both, dual]) {
    assert.match(await refusal(stage, { spec: { ipFamilies: ['IPv4', 'IPv6'] } }), words)
    assert.match(await refusal(stage, { spec: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] } }), words)
  }
})

/** The addresses of a Service of two families, the first address first. */
const held = async (name: string, second = 'ipv6') => {
  const [one, other] = await Promise.all([both.record(name), both.record(`${name}.${second}`)])
  return [one, other].map((record) => record?.status?.address ?? '')
}
const allShown = async (name: string) => ingressOf((await both.service(name)) ?? {}).map(({ ip }) => ip)
const showsBoth = (name: string, addresses: string[]) =>
  eventually(
    `Service ${name} shows ${addresses.join()}`,
    async () => (await allShown(name)).join() === addresses.join() || undefined,
  )

test('there a Service that requires both gets both at its creation, and both lead to one node', async () => {
  const { spec, metadata } = await both.create(loadBalancer('dual', { spec: required }))
  const addresses = await held('dual')
  assert.equal([spec.ipFamilies, spec.loadBalancerIP], [['IPv4', 'IPv6'], addresses[0]])
  assert.is(metadata.annotations?.['eip-admission.dev/address'], addresses[0])
  assert.match(addresses[1] ?? '', /^2001:db8:.*::1$/)
  await showsBoth('dual', addresses)
  const [first, second] = addresses.map((address) => both.cloud.control.route(address))
  assert.equal([first === second, first !== undefined], [true, true])
  assert.match(await both.run('get', 'eip'), /default\.dual\.ipv6 +2001:db8:/)
  const listed = await both.run('get', 'service', 'dual', '-o', 'wide')
  for (const address of addresses) assert.match(listed, address)
})

test('nobody takes its Service from the record of either address', async () => {
  for (const name of ['default.dual', 'default.dual.ipv6']) {
    const patch = JSON.stringify({ spec: { claimRef: null } })
    const { code, stderr } = await both.kubectl(['patch', 'eip', name, '--type=merge', '-p', patch])
    assert.is(code, 1, name)
    assert.match(stderr, 'is the record of that Service')
  }
  const provisioned = (name: string) => ({
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name },
    spec: { reservationID: '1', claimRef: { namespace: 'default', name: 'dual' } },
  })
  const create = async (name: string) =>
    (await both.kubectl(['create', '-f', '-', '--dry-run=server'], provisioned(name))).stderr
  assert.match(await create('default.dualist.ipv6'), 'choose a name without a dot')
  for (const name of ['office', 'default.dual.ipv4', 'a.b.c', 'a.b.c.ipv6']) assert.is(await create(name), '', name)
})

const patchSpec = (name: string, spec: object, ...flags: string[]) =>
  both.kubectl(['patch', 'service', name, ...flags, '-p', JSON.stringify({ spec })])
const patchDual = (spec: object, ...flags: string[]) => patchSpec('dual', spec, ...flags)

test('a Service that gives one family up gives that address back and keeps the other', async () => {
  const [first = '', second = ''] = await held('dual')
  assert.is((await patchDual({ ipFamilyPolicy: 'SingleStack' })).code, 0)
  await eventually('the second is released', async () => (await both.record('dual.ipv6')) === undefined || undefined)
  await showsBoth('dual', [first])
  assert.is(both.cloud.control.route(second), undefined)
})

test('at the limit of the project it cannot require two again: the terminal says why, and it stays as it is', async () => {
  const { quota } = both.cloud.control
  const [addresses, { spec } = {}] = [await held('dual'), await both.service('dual')]
  const before = quota.of(both.project)
  quota.set(both.reserved().length)
  const refused = await patchDual(required)
  assert.is(refused.code, 1)
  assert.match(
    refused.stderr,
    /denied the request: Service default\/dual gets no IPv6 address, and spec\.ipFamilyPolicy/,
  )
  assert.equal([await held('dual'), (await both.service('dual'))?.spec], [addresses, spec])
  quota.set(before)
})

test('below it, the second address is there when the update is stored', async () => {
  const { stderr: foreseen } = await patchDual(required, '--dry-run=server')
  assert.match(foreseen, 'dry run: an IPv6 address would be reserved as well')
  assert.is((await held('dual'))[1], '')
  await eventually('the provider is asked again, a moment after it refused', async (observe) => {
    const { code, stderr } = await patchDual(required)
    observe(stderr)
    return (code === 0 && stderr === '') || undefined
  })
  const addresses = await held('dual')
  assert.match(addresses[1] ?? '', /^2001:db8:.*::1$/)
  await showsBoth('dual', addresses)
})

test('protected, it cannot give one up', async () => {
  const annotate = (value: string) =>
    both.run('annotate', 'service', 'dual', '--overwrite', `eip-admission.dev/protect=${value}`)
  await annotate('true')
  const patch = JSON.stringify({ spec: { ipFamilyPolicy: 'SingleStack' } })
  const { code, stderr } = await both.kubectl(['patch', 'service', 'dual', '-p', patch])
  assert.is(code, 1)
  assert.match(stderr, /protects its addresses, and it would lose the IPv6 one/)
  await annotate('false')
})

test('deleted, it gives both back', async () => {
  const addresses = await held('dual')
  await both.run('delete', 'service', 'dual')
  assert.equal([await both.record('dual'), await both.record('dual.ipv6')], [undefined, undefined])
  assert.equal(
    addresses.map((address) => both.cloud.control.route(address)),
    [undefined, undefined],
  )
})

test('at the limit of the project a Service that prefers two keeps its one, and the terminal warns', async () => {
  const { quota } = both.cloud.control
  const others = both.reserved().length
  const { spec } = await both.create(loadBalancer('wishes'))
  const before = quota.of(both.project)
  quota.set(others + 1)
  const { code, stderr } = await patchSpec('wishes', prefers)
  assert.is(code, 0)
  assert.match(stderr, /Warning: no IPv6 address, the controller tries again later: /)
  assert.equal(await held('wishes'), [spec.loadBalancerIP, ''])
  // From now on, an attempt of the controller succeeds: the delete must also release that address.
  quota.set(before)
  await both.run('delete', 'service', 'wishes')
  assert.equal([await held('wishes'), both.reserved().length], [['', ''], others])
})

test('a Service that prefers both, IPv6 first, has its IPv6 address in its spec', async () => {
  const { spec } = await both.create(loadBalancer('prefers', { spec: { ...prefers, ipFamilies: ['IPv6', 'IPv4'] } }))
  const addresses = await held('prefers', 'ipv4')
  assert.is(spec.loadBalancerIP, addresses[0])
  assert.match(addresses.join(' '), /^2001:db8:.*::1 203\.0\.113\.\d+$/)
  await showsBoth('prefers', addresses)
})

/** Runs a command of the plugin as an administrator, and returns its output. */
const eip = async (...args: string[]): Promise<string> => {
  let text = ''
  const print = (more: string) => void (text += more)
  const io = { version: 'test', print, printError: print, ask: undefined }
  const code = await runPlugin([...args, `--kubeconfig=${both.controlPlane.kubeconfig}`], io)
  return `${code} ${text}`
}

test('kept, both addresses are explained; one moves to another Service, and the other is given back', async () => {
  const retain = { annotations: { [reclaim]: 'Retain' } }
  await both.create(loadBalancer('kept', { ...retain, spec: required }))
  const [first = '', second = ''] = await held('kept')
  await showsBoth('kept', [first, second])
  assert.match(await eip('release', 'default.kept.ipv6', '--yes'), /^1 .*"ipFamilyPolicy":"SingleStack"/)
  assert.match(await eip('move', second, '--to', 'till', '--yes'), /^1 .*kubectl eip move \S+ default\/kept\.ipv6 --to/)
  await both.run('delete', 'service', 'kept')
  const isKept = async () => (await both.record('kept.ipv6'))?.status?.phase === 'Released' || undefined
  await eventually('the second is kept', isKept)

  const why = await eip('why', 'kept')
  assert.match(why, `${first} and ${second} are kept for it`)
  assert.match(why, /`kubectl eip release \S+ default.kept` and `kubectl eip release \S+ default.kept.ipv6`/)

  const [ofFirst, ofSecond] = [(await both.record('kept'))?.status, (await both.record('kept.ipv6'))?.status]
  assert.match(await eip('move', 'kept.ipv6', '--to', 'till', '--name', 'office', '--yes'), `0 From now on`)
  const till = { annotations: { [chosen]: 'office' }, spec: { ipFamilies: ['IPv6'] } }
  const { spec } = await both.create(loadBalancer('till', till))
  assert.equal(
    [spec.loadBalancerIP, (await both.record('till'))?.status?.reservationID],
    [second, ofSecond?.reservationID],
  )

  assert.match(await eip('release', first, '--yes'), 'ElasticIP default.kept is deleted')
  assert.not.ok(both.reserved().some((one) => one.id === ofFirst?.reservationID))
})

test.after(async () => {
  await both.close()

  await dual.close()
  await six.close()
})

test.run()
