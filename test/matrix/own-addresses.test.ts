// Which Services may have the address that they name themselves: rights on Services must not be rights on any address.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listAll } from '../../kube/list-all.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { provisioned } from '../whole/available-view.ts'
import { serviceTag } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { chosen, loadBalancer, shown } from '../whole/manifests.ts'
import { metallbView } from '../whole/metallb-view.ts'
import { shownIn } from '../whole/stored.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const ranges = ['--own-address-ranges=198.51.100.0/24,2001:db8:1::/64,10.0.0.0/8,127.0.0.0/8']
const metallbSetting = { [dialect.loadBalancer]: 'metallb:///metallb-system?crdConfiguration=true' }
let product = await stage.startSwept({ env: dialect.here, flags: ranges })
for (const namespace of ['tenant', 'owner']) await stage.run('create', 'namespace', namespace)
const kubernetes = (await stage.service('kubernetes'))?.spec.clusterIP ?? ''
const { faults } = stage.cloud.control

const own = (name: string, address: string, namespace = 'tenant') =>
  loadBalancer(name, { namespace, spec: { loadBalancerIP: address } })
const create = (manifest: object, ...flags: string[]) => stage.kubectl(['create', '-f', '-', ...flags], manifest)
const events = (name: string, namespace: string) =>
  stage.run('get', 'events', '-n', namespace, `--field-selector=involvedObject.name=${name}`)
// A cloud may list a deleted reservation for a minute.
const hasWarning = (name: string, text: RegExp) =>
  eventually(
    `an Event says why ${name} has no address`,
    async (observe) => text.test(observe(await events(name, 'tenant'))) || undefined,
    120_000,
  )

const refused: [address: string, reason: RegExp][] = [
  ['8.8.8.8', /is no reservation of the project: .*--own-address-ranges/],
  ['2001:DB8::1', /spec\.loadBalancerIP: "2001:db8::1" is no reservation of the project/],
  [kubernetes, /is in a Service range of this cluster/],
  ['169.254.169.254', /is a link-local address/],
  ['127.0.0.1', /is a loopback address/],
  ['0.0.0.0', /is an unspecified address/],
  ['224.0.0.5', /is a multicast address/],
  ['255.255.255.255', /is the broadcast address/],
  ['::', /is an unspecified address/],
  ['::ffff:198.51.100.7', /is an IPv4 address written as IPv6/],
]
for (const [address, reason] of refused) {
  for (const flags of [[], ['--dry-run=server']]) {
    test(`own address ${address} is refused ${flags.join('')}`, async () => {
      const { code, stderr } = await create(own('thief', address), ...flags)
      assert.is(code, 1)
      assert.match(stderr, reason)
      assert.is(await stage.service('thief', 'tenant'), undefined)
    })
  }
}

test('a reservation of the project is a Service’s own address seconds after it exists', async () => {
  const { address } = await stage.order()
  await eventually('it is known', async (observe) => {
    return observe(await create(own('brings', address))).code === 0 || undefined
  })
  await eventually(
    'its status shows it',
    async () => shownIn(await stage.service('brings', 'tenant')) === address || undefined,
  )
  await stage.run('delete', 'service', 'brings', '-n', 'tenant')
  assert.ok(
    stage.reserved().some((one) => one.address === address),
    'it is not ours to release',
  )
})

test('an address in the operator’s ranges is a Service’s own address, in any spelling', async () => {
  await stage.create(own('wide', '2001:DB8:1::7'))
  await eventually(
    'its status shows it',
    async () => shownIn(await stage.service('wide', 'tenant')) === '2001:db8:1::7' || undefined,
  )
})

test('an address that another namespace holds or uses is refused, and within a namespace it can be shared', async () => {
  await stage.create(loadBalancer('holder', { namespace: 'owner' }))
  const held = await stage.settled('holder', 'owner')
  await stage.create(own('user', '198.51.100.20', 'owner'))
  await eventually('it is used', async () => shownIn(await stage.service('user', 'owner')))
  for (const [address, name] of [
    [held, 'holder'],
    ['198.51.100.20', 'user'],
  ] as const) {
    const { code, stderr } = await create(own('thief', address))
    assert.is(code, 1)
    assert.match(stderr, `Service owner/${name}, which is in another namespace`)
    assert.is((await create(own(`shares-${name}`, address, 'owner'))).code, 0)
  }
})

test('an update that leaves the address is never refused, and one that changes it is checked', async () => {
  await stage.create(own('stays', '198.51.100.30'))
  await eventually('it is shown', async () => shownIn(await stage.service('stays', 'tenant')))
  await product.stop()
  product = await stage.startSwept({ env: dialect.here })
  await stage.run('label', 'service', 'stays', '-n', 'tenant', 'team=web')
  await hasWarning('stays', /is no reservation of the project/)
  assert.is(shownIn(await stage.service('stays', 'tenant')), '198.51.100.30', 'what it shows already stays')
  const change = ['patch', 'service', 'stays', '-n', 'tenant', '-p', '{"spec":{"loadBalancerIP":"8.8.8.8"}}']
  assert.match((await stage.kubectl(change)).stderr, 'is no reservation of the project')
})

test('a Service that admission missed does not show an address that it may not have, and an Event says why', async () => {
  await product.stop()
  await stage.create(own('missed', '8.8.4.4'))
  await stage.create(own('inside', '169.254.169.254'))
  product = await stage.startSwept({ env: dialect.here })
  await hasWarning('missed', /Warning .*SyncLoadBalancerFailed.*"8\.8\.4\.4" is no reservation of the project/)
  await hasWarning('inside', /Warning .*SyncLoadBalancerFailed.*is a link-local address/)
  for (const name of ['missed', 'inside']) assert.is(shownIn(await stage.service(name, 'tenant')), undefined)
})

/** Orders an address and provisions it for some Services. */
async function provision(name: string, spec: object): Promise<string> {
  const { id, address } = await stage.order()
  const manifest = provisioned(name, id) as { spec: object }
  await stage.send(['create'], { ...manifest, spec: { ...manifest.spec, ...spec } })
  await eventually(`${name} has its address`, async (observe) => {
    return observe(await stage.client.get(elasticIPs, { name }))?.status?.address === address || undefined
  })
  return address
}

const restricted: [name: string, spec: object, reason: RegExp][] = [
  [
    'for-team',
    { allowedNamespaces: ['owner'] },
    /ElasticIP for-team, which is for Services of other namespaces .*owner/,
  ],
  [
    'for-one',
    { claimRef: { namespace: 'owner', name: 'chosen' } },
    /ElasticIP for-one, which is only for .*owner\/chosen/,
  ],
  [
    'for-mate',
    { claimRef: { namespace: 'tenant', name: 'chosen' } },
    /ElasticIP for-mate, .*only for .*tenant\/chosen/,
  ],
]
for (const [name, spec, reason] of restricted) {
  test(`a provisioned address ${name} of others is no own address of a Service, at admission or later`, async () => {
    const address = await provision(name, spec)
    for (const flags of [[], ['--dry-run=server']]) {
      const { code, stderr } = await create(own('thief', address), ...flags)
      assert.is(code, 1)
      assert.match(stderr, reason)
    }
    await product.stop()
    await stage.create(own(`missed-${name}`, address))
    product = await stage.startSwept({ env: dialect.here })
    await hasWarning(`missed-${name}`, reason)
    assert.is(shownIn(await stage.service(`missed-${name}`, 'tenant')), undefined)
    await stage.run('delete', 'service', `missed-${name}`, '-n', 'tenant')
    const allowed = { namespace: 'owner', annotations: { [chosen]: name } }
    if (name !== 'for-mate') assert.is((await create(loadBalancer('chosen', allowed), '--dry-run=server')).code, 0)
  })
}

test('a reservation whose marks name another cluster is no own address, unless the operator lists it', async () => {
  const { address } = await stage.order([dialect.usage, serviceTag(dialect, 'other/web'), 'cluster=another-cluster'])
  const reason = /is another cluster's reservation by its marks \(.*cluster=another-cluster/
  await eventually(
    'it is known',
    async (observe) => reason.test(observe(await create(own('thief', address))).stderr) || undefined,
  )
  await product.stop()
  await stage.create(own('missed-other', address))
  product = await stage.startSwept({ env: dialect.here })
  await hasWarning('missed-other', reason)
  assert.is(shownIn(await stage.service('missed-other', 'tenant')), undefined)
  await product.stop()
  product = await stage.startSwept({ env: dialect.here, flags: [`--own-address-ranges=${address}/32`] })
  await eventually(
    'it is shown',
    async () => shownIn(await stage.service('missed-other', 'tenant')) === address || undefined,
  )
})

test('a warm address is no own address', async () => {
  await product.stop()
  product = await stage.startSwept({ env: { ...dialect.here, EIP_WARM_POOL: '1' } })
  const warm = await eventually('a warm address', async () => {
    const all = await listAll(stage.client, elasticIPs)
    return all.find(({ metadata, status }) => metadata.name.startsWith('warm-') && status?.phase === 'Available')
  })
  const { code, stderr } = await create(own('thief', warm.status?.address ?? ''))
  assert.is(code, 1)
  assert.match(stderr, new RegExp(`is in the warm pool \\(ElasticIP ${warm.metadata.name}\\)`))
  await product.stop()
  product = await stage.startSwept({ env: dialect.here })
  // The cloud gives a free address to the next order. Until the record of its former reservation is gone it is refused.
  await eventually(
    'the warm pool is given back',
    async (observe) => {
      const all = observe(await listAll(stage.client, elasticIPs))
      return !all.some(({ status }) => status?.address === warm.status?.address) || undefined
    },
    120_000,
  )
})

test('while the reservations of the project are unknown an own address is stored with a warning, and decided later', async () => {
  await product.stop()
  const { address } = await stage.order()
  faults.add({ answer: 503 })
  product = await stage.serve({ env: dialect.here, flags: [] })
  const { code, stderr } = await create(own('early', address))
  assert.is(code, 0, stderr)
  assert.match(stderr, 'the cloud has not answered yet')
  await create(own('bogus', '8.8.8.9'))
  assert.is(shownIn(await stage.service('early', 'tenant')), undefined)
  faults.clear()
  await eventually('it is shown', async () => shownIn(await stage.service('early', 'tenant')) === address || undefined)
  await hasWarning('bogus', /is no reservation of the project/)
  assert.is(shownIn(await stage.service('bogus', 'tenant')), undefined)
})

test('a thief’s Service holds nothing up: the owner is deleted, and the thief does not get the address', async () => {
  await product.stop()
  const metallb = metallbView(stage, '0.16.1')
  await stage.run('create', 'namespace', 'metallb-system')
  await metallb.install()
  product = await stage.startSwept({ env: { ...dialect.here, ...metallbSetting } })
  const { spec } = await stage.create(loadBalancer('robbed', { namespace: 'owner' }))
  const address = spec.loadBalancerIP ?? ''
  const hasPool = async () => (await metallb.pools()).includes(`${address}/32`)
  await eventually('it is announced', async () => (await hasPool()) || undefined)
  await product.stop()
  await stage.create(own('robber', address))
  product = await stage.startSwept({ env: { ...dialect.here, ...metallbSetting } })
  await hasWarning('robber', /is held by Service owner\/robbed, which is in another namespace/)
  await stage.run('delete', 'service', 'robbed', '-n', 'owner', '--timeout=120s')
  await stage.gone('robbed', 'owner')
  assert.not(stage.reserved().some((one) => one.address === address))
  await eventually('it is announced no more', async () => !(await hasPool()) || undefined)
  await hasWarning('robber', /is no reservation of the project/)
  assert.not(await hasPool(), 'the thief does not inherit it')
  assert.is((await stage.service('robber', 'tenant'))?.metadata.annotations?.[shown], undefined)
})

test.after(() => stage.close())

test.run()
