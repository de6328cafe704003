import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import type { PlannedService } from '../../../server/takeover/plan/plan.ts'
import { type SeenService, isThere, serviceProblems } from '../../../server/takeover/apply/verify.ts'
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

function aRecord({ phase = 'Bound', uid = 'u1', held = address } = {}): ElasticIP {
  return {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name: 'default.web' },
    spec: { claimRef: { namespace: 'default', name: 'web', uid }, reclaimPolicy: 'Delete' },
    status: { phase: phase as 'Bound', address: held },
  }
}

const pool = aPool({ name: 'default.web', addresses: [`${address}/32`] })
const seen: SeenService = {
  planned,
  service: aService(),
  record: aRecord(),
  metallb: [pool, anAdvertisement({ name: 'adv', ipAddressPools: ['default.web'] })],
}

const rows: [name: string, change: Partial<SeenService>, problems: string[]][] = [
  ['as planned', {}, []],
  [
    'another address in spec',
    { service: aService({ spec: '192.0.2.1' }) },
    [`spec.loadBalancerIP is 192.0.2.1, not ${address}`],
  ],
  [
    'another address in the status',
    { service: aService({ status: '192.0.2.1' }) },
    [`its status shows 192.0.2.1, not ${address}`],
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
  ['no finalizer of ours', { service: aService({ finalizers: [upstream] }) }, [`it lacks the finalizer ${own}`]],
  ['no finalizer of theirs', { service: aService({ finalizers: [own] }) }, [`it lacks the finalizer ${upstream}`]],
  ['no pool', { metallb: [] }, ['no IPAddressPool has its address']],
  ['a pool that nobody announces', { metallb: [pool] }, ['no BGPAdvertisement names IPAddressPool default.web']],
  [
    'a pool that another advertisement leaves out',
    { metallb: [pool, anAdvertisement({ name: 'adv', ipAddressPools: ['default.api'] })] },
    ['no BGPAdvertisement names IPAddressPool default.web'],
  ],
  ['no MetalLB by objects', { metallb: undefined }, []],
  [
    'an own address, for which no record is',
    { planned: { ...planned, held: 'own' }, record: undefined, metallb: [] },
    [],
  ],
  [
    'a Service that is none of ours',
    { planned: { ...planned, held: 'ignored' }, service: aService({ spec: '192.0.2.1', finalizers: [] }) },
    [],
  ],
]

for (const [name, change, problems] of rows) {
  test(`verified: ${name}`, () => assert.equal(serviceProblems({ ...seen, ...change }), problems))
}

test('a Service that was deleted, or created anew, is no problem', () => {
  assert.is(isThere(seen), true)
  assert.is(isThere({ ...seen, service: undefined }), false)
  assert.is(isThere({ ...seen, service: aService({ uid: 'u2' }) }), false)
})

test.run()
