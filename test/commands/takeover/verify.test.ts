import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import type { PlannedService } from '../../../commands/takeover/plan/plan.ts'
import { type SeenService, isAsPlanned, serviceProblems } from '../../../commands/takeover/apply/verify.ts'
import { readAnnouncing } from '../../../commands/takeover/found.ts'
import { aPool, anAdvertisement } from '../../announcers/cluster.ts'

const address = '198.51.100.7'
const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const own = 'eip-admission.dev/address-cleanup'

const planned: PlannedService = {
  namespace: 'default',
  name: 'web',
  uid: 'u1',
  before: address,
  after: address,
  held: 'reserved',
  finalizers: [upstream],
  shownIn: ['spec.loadBalancerIP', 'status.loadBalancer'],
}

type Shown = { spec?: string; status?: string; finalizers?: string[]; uid?: string }

function aService({ spec = address, status = address, finalizers = [upstream, own], uid = 'u1' }: Shown = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web', uid, finalizers },
    spec: { type: 'LoadBalancer', loadBalancerIP: spec },
    status: { loadBalancer: { ingress: [{ ip: status }] } },
  }
}

type Held = { phase?: string; uid?: string; held?: string | undefined }

function aRecord({ phase = 'Bound', uid = 'u1', ...more }: Held = {}): ElasticIP {
  const { held } = { held: address, ...more }
  return {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name: 'default.web' },
    spec: { claimRef: { namespace: 'default', name: 'web', uid }, reclaimPolicy: 'Delete' },
    status: { phase: phase as 'Bound', ...(held !== undefined && { address: held }) },
  }
}

const pool = aPool({ name: 'default.web', addresses: [`${address}/32`] })
const seen: SeenService = {
  planned,
  service: aService(),
  record: aRecord(),
  metallb: [pool, anAdvertisement({ name: 'adv', ipAddressPools: ['default.web'] })],
  announcing: { before: undefined, now: undefined },
}

const by = (nodes: number) => (nodes === 0 ? {} : { 'default/web': nodes })

/** A Service without an address, whose reservation waits for its grant. */
const waiting: Partial<SeenService> = {
  planned: { ...planned, before: undefined, after: undefined, shownIn: [] },
  metallb: [],
}

const rows: [name: string, change: Partial<SeenService>, problems: string[]][] = [
  ['as planned', {}, []],
  [
    'another address in spec',
    { service: aService({ spec: '192.0.2.1' }) },
    [`spec.loadBalancerIP does not show ${address}`],
  ],
  [
    'another address in the status',
    { service: aService({ status: '192.0.2.1' }) },
    [`status.loadBalancer does not show ${address}`],
  ],
  ['no record', { record: undefined }, ['it has no ElasticIP yet']],
  ['a record that is not bound', { record: aRecord({ phase: 'Reserved' }) }, ['its ElasticIP is Reserved']],
  [
    'a record of an earlier Service',
    { record: aRecord({ uid: 'u0' }) },
    ['its ElasticIP is bound to an earlier Service of that name'],
  ],
  [
    'a record with another address',
    { record: aRecord({ held: '192.0.2.1' }) },
    [`its ElasticIP has the address 192.0.2.1, not ${address}`],
  ],
  [
    'a reservation that the provider has not granted, as before',
    { ...waiting, record: aRecord({ phase: 'Requested', held: undefined }) },
    [],
  ],
  ['a reservation that the provider has granted since', waiting, []],
  [
    'a reservation that the provider has granted since, and no Service has',
    { ...waiting, record: aRecord({ phase: 'Reserved' }) },
    ['its ElasticIP is Reserved'],
  ],
  [
    'a record that waits, where there was an address',
    { record: aRecord({ phase: 'Requested' }) },
    ['its ElasticIP is Requested'],
  ],
  ['no finalizer of ours', { service: aService({ finalizers: [upstream] }) }, [`it lacks the finalizer ${own}`]],
  ['a finalizer that another program has removed since', { service: aService({ finalizers: [own] }) }, []],
  ['no pool', { metallb: [] }, ['no IPAddressPool has its address']],
  ['a pool that nobody announces', { metallb: [pool] }, ['no BGPAdvertisement names IPAddressPool default.web']],
  [
    'a pool that another advertisement leaves out',
    { metallb: [pool, anAdvertisement({ name: 'adv', ipAddressPools: ['default.api'] })] },
    ['no BGPAdvertisement names IPAddressPool default.web'],
  ],
  [
    "a pool that a person's selector leaves out",
    { metallb: [pool, anAdvertisement({ name: 'adv', ipAddressPoolSelectors: [{ matchLabels: { team: 'a' } }] })] },
    ['no BGPAdvertisement names IPAddressPool default.web'],
  ],
  [
    "a pool that a person's selector selects",
    {
      metallb: [
        { ...pool, metadata: { ...pool.metadata, labels: { team: 'a' } } },
        anAdvertisement({ name: 'adv', ipAddressPoolSelectors: [{ matchLabels: { team: 'a' } }] }),
      ],
    },
    [],
  ],
  ['announced before and now', { announcing: { before: by(2), now: by(1) } }, []],
  [
    'announced before, and by nobody now',
    { announcing: { before: by(2), now: by(0) } },
    ['2 nodes announced it before the takeover, and none does now'],
  ],
  ['announced by nobody before: it has no endpoints', { announcing: { before: by(0), now: by(0) } }, []],
  ['of a MetalLB that does not say', { announcing: { before: undefined, now: by(0) } }, []],
  ['no MetalLB by objects', { metallb: undefined }, []],
  [
    'a user-chosen address, for which no record is',
    { planned: { ...planned, held: 'own' }, record: undefined, metallb: [] },
    [],
  ],
]

for (const [name, change, problems] of rows) {
  test(`verified: ${name}`, () => assert.equal(serviceProblems({ ...seen, ...change }), problems))
}

test('a Service that was deleted, or created again, is no problem', () => {
  assert.is(isAsPlanned(aService(), planned), true)
  assert.is(isAsPlanned(aService({ uid: 'u2' }), planned), false)
})

test('nor is one that left type LoadBalancer, whose address nobody adopts', () => {
  const service: Service = { ...aService(), spec: { type: 'ClusterIP' }, status: {} }
  assert.is(isAsPlanned(service, planned), false)
})

const statusOf = (name: string, node: string, peers: string[]) => ({
  metadata: { name: `bgp-${name}-${node}` },
  status: { serviceNamespace: 'default', serviceName: name, node, peers },
})

test('routes are read from the statuses of speakers that have peers', async () => {
  const lists: Record<string, object[]> = {
    ServiceBGPStatus: [statusOf('web', 'a', ['p']), statusOf('web', 'b', ['p', 'q']), statusOf('api', 'a', [])],
  }
  const list = async ({ kind }: { kind: string }) => ({ metadata: {}, items: lists[kind] ?? [] })
  assert.equal(await readAnnouncing({ list } as never), { 'default/web': 2 })
})

test.run()
