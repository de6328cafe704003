// Which Services may have the address that they name: rights on Services must not grant rights on any address.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { listAll } from '../../kube/list-all.ts'
import type { Service } from '../../kube/objects.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { provisioned } from '../whole/available-view.ts'
import { serviceTag } from '../whole/dialects.ts'
import { eventually } from '../whole/eventually.ts'
import { chosen, loadBalancer, shown } from '../whole/manifests.ts'
import { metallbView } from '../whole/metallb-view.ts'
import { shownIn } from '../whole/stored.ts'
import { warned } from '../whole/warned.ts'
import { dialect, openStage } from './dialect.ts'

const stage = await openStage()
const ranges = ['--own-address-ranges=198.51.100.0/24,2001:db8:1::/64,10.0.0.0/8,127.0.0.0/8']
const metallbSetting = { [dialect.loadBalancer]: 'metallb:///metallb-system?crdConfiguration=true' }
let product = await stage.startSwept({ env: dialect.here, flags: ranges })
for (const namespace of ['tenant', 'owner']) await stage.run('create', 'namespace', namespace)
const kubernetes = await eventually(
  'the API server has its own Service',
  async () => (await stage.service('kubernetes'))?.spec.clusterIP,
)
const { faults } = stage.cloud.control

const own = (name: string, address: string, namespace = 'tenant') =>
  loadBalancer(name, { namespace, spec: { loadBalancerIP: address } })
const create = (manifest: object, ...flags: string[]) => stage.kubectl(['create', '-f', '-', ...flags], manifest)
/** Waits for the reason why a Service has no address. */
const hasWarning = (name: string, words: RegExp) => warned(stage, `tenant/${name}`, words)
const isShown = (name: string, address: string, namespace = 'tenant') =>
  eventually(
    `${namespace}/${name} shows ${address}`,
    async () => shownIn(await stage.service(name, namespace)) === address || undefined,
  )
const showsNothing = async (name: string) => assert.is(shownIn(await stage.service(name, 'tenant')), undefined)
/** Checks that a Service with the address is refused, and that a dry run refuses it, too. */
async function isRefused(address: string, reason: RegExp | string): Promise<void> {
  for (const flags of [[], ['--dry-run=server']]) {
    const { code, stderr } = await create(own('thief', address), ...flags)
    assert.is(code, 1)
    assert.match(stderr, reason)
  }
  assert.is(await stage.service('thief', 'tenant'), undefined)
}

// A table in test/ledger/want has all refusals; these depend on the settings, the cluster and the cloud.
const refused: [address: string, reason: RegExp][] = [
  ['8.8.8.8', /is not reserved in this project: .*--own-address-ranges/],
  ['2001:DB8::1', /spec\.loadBalancerIP: "2001:db8::1" is not reserved in this project/],
  [kubernetes, /is in a Service range of this cluster/],
  ['127.0.0.1', /is a loopback address/],
]
test('what the project has is known soon after a start', async () => {
  // Before the first list has arrived, a Service with an address that may be ours is stored with a warning.
  await eventually('an address of nobody is refused', async (observe) => {
    return observe(await create(own('nobody', '8.8.8.8'), '--dry-run=server')).code === 1 || undefined
  })
})

for (const [address, reason] of refused) test(`own address ${address} is refused`, () => isRefused(address, reason))

test('a reservation of the project is a Service’s own address seconds after it exists', async () => {
  const { address } = await stage.order()
  await eventually('it is known', async (observe) => {
    return observe(await create(own('brings', address))).code === 0 || undefined
  })
  await isShown('brings', address)
  await stage.run('delete', 'service', 'brings', '-n', 'tenant')
  assert.ok(
    stage.reserved().some((one) => one.address === address),
    'it is not ours to release',
  )
})

/** The fate of a Service that was stored while the product was down. */
type Missed = { name: string; address: string; reason: RegExp }
const missed: Missed[] = [
  {
    name: 'missed',
    address: '8.8.4.4',
    reason: /SyncLoadBalancerFailed.*"8\.8\.4\.4" is not reserved in this project/,
  },
  { name: 'inside', address: '169.254.169.254', reason: /SyncLoadBalancerFailed.*is a link-local address/ },
]

const forOwner: [name: string, spec: object, reason: RegExp][] = [
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
]

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

test('an address in the operator’s ranges is a Service’s own address, in any spelling', async () => {
  await stage.create(own('wide', '2001:DB8:1::7'))
  await isShown('wide', '2001:db8:1::7')
})

const ipAnnotation = 'cherryservers.com/loadBalancerIPs'
const moved = '198.51.100.40'

/** Creates a Service with a user-chosen address in its field, and waits for our annotation with the same address. */
async function ownInField(name: string, flags: string[]): Promise<void> {
  const { code, stderr } = await stage.kubectl([...flags, '-f', '-'], own(name, moved))
  assert.is(code, 0, stderr)
  await eventually('our annotation has it', async (observe) => {
    const { metadata } = observe(await stage.service(name, 'tenant')) ?? {}
    return metadata?.annotations?.[ipAnnotation] === moved || undefined
  })
}

for (const [create, update] of [
  [['apply'], ['apply']],
  [
    ['apply', '--server-side'],
    ['apply', '--server-side'],
  ],
  [['create'], ['replace']],
] as const)
  test(`${update.join(' ')} of a manifest that moves a user-chosen address to the annotation keeps it`, async () => {
    await ownInField('moves', [...create])
    const annotated = loadBalancer('moves', { namespace: 'tenant', annotations: { [ipAnnotation]: moved } })
    const { code, stderr } = await stage.kubectl([...update, '-f', '-'], annotated)
    assert.is(code, 0, stderr)
    const { metadata, spec } = (await stage.service('moves', 'tenant')) ?? {}
    assert.equal([metadata?.annotations?.[ipAnnotation], spec?.loadBalancerIP], [moved, undefined])
    assert.is(metadata?.annotations?.[shown], undefined)
    await stage.run('delete', 'service', 'moves', '-n', 'tenant', '--timeout=120s')
  })

test('a Service whose user removes its own address gets a reserved one, although our annotation has the old one', async () => {
  await ownInField('returns', ['apply'])
  await stage.run(
    'patch',
    'service',
    'returns',
    '-n',
    'tenant',
    '--type=merge',
    '-p',
    '{"spec":{"loadBalancerIP":null}}',
  )
  const address = await stage.settled('returns', 'tenant')
  assert.not.equal(address, moved)
  await stage.run('delete', 'service', 'returns', '-n', 'tenant', '--timeout=120s')
})

test('an address that another namespace holds or uses is refused, and within a namespace it can be shared', async () => {
  await stage.create(loadBalancer('robbed', { namespace: 'owner' }))
  const held = await stage.settled('robbed', 'owner')
  await stage.create(own('user', '198.51.100.20', 'owner'))
  await isShown('user', '198.51.100.20', 'owner')
  for (const [address, name] of [
    [held, 'robbed'],
    ['198.51.100.20', 'user'],
  ] as const) {
    const { code, stderr } = await create(own('thief', address))
    assert.is(code, 1)
    assert.match(stderr, `Service owner/${name}, which is in another namespace`)
    assert.is((await create(own(`shares-${name}`, address, 'owner'))).code, 0)
  }
  await stage.run('delete', 'service', 'shares-robbed', '-n', 'owner')
})

for (const [name, spec, reason] of forOwner)
  test(`a provisioned address ${name} of others is no own address of a Service`, async () => {
    const address = await provision(name, spec)
    await isRefused(address, reason)
    missed.push({ name: `missed-${name}`, address, reason })
    const allowed = { namespace: 'owner', annotations: { [chosen]: name } }
    assert.is((await create(loadBalancer('chosen', allowed), '--dry-run=server')).code, 0)
  })

test('a reservation whose marks name another cluster is no own address', async () => {
  const { address } = await stage.order([dialect.usage, serviceTag(dialect, 'other/web'), 'cluster=another-cluster'])
  const reason = /is another cluster's reservation according to its marks \(.*cluster=another-cluster/
  await eventually(
    'it is known',
    async (observe) => reason.test(observe(await create(own('thief', address))).stderr) || undefined,
  )
  missed.push({ name: 'missed-other', address, reason })
})

test('a Service that admission missed does not show an address that it may not have, and an Event says why', async () => {
  await stage.create(own('stays', '198.51.100.30'))
  await isShown('stays', '198.51.100.30')
  await product.stop()
  for (const { name, address } of missed) await stage.create(own(name, address))
  product = await stage.startSwept({ env: { ...dialect.here, EIP_WARM_POOL: '1' } })
  for (const { name, reason } of missed) await hasWarning(name, reason)
  for (const { name } of missed) await showsNothing(name)
})

test('an update that leaves the address is never refused, and one that changes it is checked', async () => {
  await stage.run('label', 'service', 'stays', '-n', 'tenant', 'team=web')
  await hasWarning('stays', /is not reserved in this project/)
  assert.is(shownIn(await stage.service('stays', 'tenant')), '198.51.100.30', 'what it shows already stays')
  const change = ['patch', 'service', 'stays', '-n', 'tenant', '-p', '{"spec":{"loadBalancerIP":"8.8.8.8"}}']
  assert.match((await stage.kubectl(change)).stderr, 'is not reserved in this project')
})

test('a Service in deletion that a tenant keeps cannot request an address, and can go', async () => {
  const { metadata, ...manifest } = loadBalancer('going', { namespace: 'tenant' }) as Service
  await stage.create({ ...manifest, metadata: { ...metadata, finalizers: ['example.com/held'] } })
  await stage.run('delete', 'service', 'going', '-n', 'tenant', '--wait=false')
  await eventually('only the finalizer of the tenant is left', async (observe) => {
    const { finalizers } = observe(await stage.service('going', 'tenant'))?.metadata ?? {}
    return finalizers?.join() === 'example.com/held' || undefined
  })
  const patch = (change: object) =>
    stage.kubectl(['patch', 'service', 'going', '-n', 'tenant', '--type=merge', '-p', JSON.stringify(change)])
  for (const change of [
    { spec: { loadBalancerIP: '127.0.0.1' } },
    { metadata: { annotations: { [shown]: '127.0.0.1' } }, spec: { loadBalancerIP: '127.0.0.1' } },
  ]) {
    const { code, stderr } = await patch(change)
    assert.is(code, 1)
    assert.match(stderr, /"127\.0\.0\.1" is a loopback address/)
  }
  assert.is((await patch({ metadata: { annotations: { 'example.com/note': 'last' } } })).code, 0)
  assert.is((await patch({ metadata: { finalizers: null } })).code, 0)
  await stage.gone('going', 'tenant')
})

test('a warm address is no own address', async () => {
  const warm = await eventually('a warm address', async () => {
    const all = await listAll(stage.client, elasticIPs)
    return all.find(({ metadata, status }) => metadata.name.startsWith('warm-') && status?.phase === 'Available')
  })
  const { code, stderr } = await create(own('thief', warm.status?.address ?? ''))
  assert.is(code, 1)
  assert.match(stderr, new RegExp(`is in the warm pool \\(ElasticIP ${warm.metadata.name}\\)`))
})

/** A new reservation's address. The cloud may reuse one that our release has just freed, and that it still lists. */
async function orderedAddress(): Promise<string> {
  for (;;) {
    const { address } = await stage.order()
    const records = await listAll(stage.client, elasticIPs)
    if (!records.some(({ status }) => status?.address === address)) return address
  }
}

test('while the reservations of the project are unknown a user-chosen address is stored with a warning, and decided later', async () => {
  const address = await orderedAddress()
  await product.stop()
  const listed = missed.find(({ name }) => name === 'missed-other')?.address ?? ''
  faults.add({ answer: 503 })
  product = await stage.serve({ env: dialect.here, flags: [`--own-address-ranges=${listed}/32`] })
  const { code, stderr } = await create(own('early', address))
  assert.is(code, 0, stderr)
  assert.match(stderr, 'the provider has not answered yet')
  await create(own('bogus', '8.8.8.9'))
  await showsNothing('early')
  faults.clear()
  await isShown('early', address)
  await hasWarning('bogus', /is not reserved in this project/)
  await showsNothing('bogus')
})

test('the operator can allow an address that another cluster has reserved', async () => {
  await isShown('missed-other', missed.find(({ name }) => name === 'missed-other')?.address ?? '')
})

test('a thief’s Service holds nothing up: the owner is deleted, and the thief does not get the address', async () => {
  const { spec } =
    (await stage.service('robbed', 'owner')) ?? (await stage.create(loadBalancer('robbed', { namespace: 'owner' })))
  const address = spec.loadBalancerIP ?? ''
  await product.stop()
  // A cloud may list a deleted reservation for a minute; a sweep notices when it no longer does.
  stage.cloud.control.setDeletion({ reservationsMs: 2_000 })
  const metallb = metallbView(stage, '0.16.1')
  await stage.run('create', 'namespace', 'metallb-system')
  await metallb.install()
  await stage.create(own('robber', address))
  product = await stage.startSwept({ env: { ...dialect.here, ...metallbSetting }, flags: ['--sweep-interval=2s'] })
  const hasPool = async () => (await metallb.pools()).includes(`${address}/32`)
  await eventually('it is announced', async () => (await hasPool()) || undefined)
  await hasWarning('robber', /is held by Service owner\/robbed, which is in another namespace/)
  await stage.run('delete', 'service', 'robbed', '-n', 'owner', '--timeout=120s')
  await stage.gone('robbed', 'owner')
  assert.not(stage.reserved().some((one) => one.address === address))
  await eventually('it is announced no more', async () => !(await hasPool()) || undefined)
  await hasWarning('robber', /is not reserved in this project/)
  assert.not(await hasPool(), 'the thief does not inherit it')
  assert.is((await stage.service('robber', 'tenant'))?.metadata.annotations?.[shown], undefined)
})

test.after(() => stage.close())

test.run()
