import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../kube/objects.ts'
import type { ElasticIP, ElasticIPStatus } from '../../ledger/record/elastic-ip.ts'
import { newProvisioned } from '../../kubectl-eip/adopt.ts'
import { planMove } from '../../kubectl-eip/move-plan.ts'
import { planRelease } from '../../kubectl-eip/release-plan.ts'
import { makeLot, makeRecord, makeService } from '../builders.ts'
import { address, shows, users } from './builders.ts'

const held = { address, reservationID: 'res-1' }
const own = (phase: ElasticIPStatus['phase'], facts: Partial<ElasticIP['spec']> = {}) =>
  makeRecord({ ...held, ...(phase && { phase }) }, facts)
const lot = (phase: ElasticIPStatus['phase'], facts: Partial<ElasticIP['spec']> = {}): ElasticIP => ({
  ...makeLot('office', { reservationID: 'res-1', reclaimPolicy: 'Retain', ...facts }),
  status: { ...held, ...(phase && { phase }) },
})
const second = (phase: ElasticIPStatus['phase']): ElasticIP => {
  const record = makeRecord({ ...held, address: '2001:db8::1', ...(phase && { phase }) }, { ipFamily: 'IPv6' })
  return { ...record, metadata: { ...record.metadata, name: 'default.web.ipv6' } }
}
const claimedBy = { namespace: 'default', name: 'web', elasticIPUID: 'record-1' }
const lent = own('Bound', { source: { name: 'office', type: 'Provisioned' } })
const lending = (reclaimPolicy: 'Delete' | 'Retain') => lot('Bound', { reclaimPolicy, claimRef: claimedBy })
const retainOffice = `kubectl patch eip office --type=merge -p '{"spec":{"reclaimPolicy":"Retain"}}'`
const deleted = (record: ElasticIP) => ({
  ...record,
  metadata: { ...record.metadata, deletionTimestamp: '2026-01-31T09:00:00Z' },
})
const warm = (record: ElasticIP) => ({
  ...record,
  metadata: { ...record.metadata, labels: { 'eip-admission.dev/warm-pool': 'true' } },
})
const showing = makeService({ name: 'ghost', type: 'ClusterIP', status: shows(address) })

/** The record of another Service, which waits for its address. */
const ofService = (namespace: string, name: string, facts: Partial<ElasticIP['spec']> = {}): ElasticIP => {
  const record = makeRecord({ phase: 'Requested' }, { claimRef: { namespace, name }, ...facts })
  return { ...record, metadata: { ...record.metadata, name: `${namespace}.${name}`, uid: 'record-3' } }
}

type Releases = {
  name: string
  record: ElasticIP
  others?: ElasticIP[]
  services?: Service[]
  refusal?: string
  consequence?: string
}

const releases: Releases[] = [
  { name: 'a kept address', record: own('Released'), consequence: 'Its reservation res-1 is deleted at the provider' },
  {
    name: 'a provisioned address',
    record: lot('Available'),
    consequence: 'A reservation that you ordered yourself stays',
  },
  {
    name: 'a provisioned address that no longer names its reservation',
    record: { ...lot('Available'), spec: { location: 'da', reclaimPolicy: 'Retain' } },
    consequence: 'A reservation that you ordered yourself stays',
  },
  {
    name: 'a provisioned address with the policy Delete',
    record: lot('Available', { reclaimPolicy: 'Delete' }),
    consequence: 'is deleted at the provider: the project no longer pays',
  },
  {
    name: 'a bound address',
    record: own('Bound'),
    refusal: '`kubectl delete service -n default web`; that releases the address',
  },
  {
    name: 'a bound address that is retained',
    record: own('Bound', { reclaimPolicy: 'Retain' }),
    refusal: 'then run this again',
  },
  {
    name: 'a second address',
    record: second('Bound'),
    refusal: '`kubectl patch service -n default web -p \'{"spec":{"ipFamilyPolicy":"SingleStack"}}\'`',
  },
  { name: 'a kept second address', record: second('Released'), consequence: '2001:db8::1 to another customer' },
  { name: 'a reserved address', record: own('Reserved'), refusal: 'which is about to have it' },
  { name: 'a requested address', record: own('Requested'), refusal: 'which is about to have it' },
  { name: 'an address on its way', record: own('Releasing'), refusal: 'it is deleted automatically' },
  { name: 'a deleted record', record: deleted(own('Released')), refusal: 'is already being deleted' },
  {
    name: 'a claimed provisioned address',
    record: lot('Bound', { claimRef: claimedBy }),
    refusal: 'Delete the Service first: `kubectl delete service -n default web`; then run `kubectl eip release office`',
  },
  {
    name: 'a claimed provisioned address with the policy Delete',
    record: lending('Delete'),
    refusal: 'Delete the Service: `kubectl delete service -n default web`; that releases the address',
  },
  {
    name: 'a lent address whose ElasticIP keeps it',
    record: lent,
    others: [lending('Retain')],
    refusal: 'Delete the Service first: `kubectl delete service -n default web`; then run `kubectl eip release office`',
  },
  {
    name: 'a lent address whose ElasticIP has the policy Delete',
    record: lent,
    others: [lending('Delete')],
    refusal: 'Delete the Service: `kubectl delete service -n default web`; that releases the address',
  },
  {
    name: 'a claimed provisioned address whose name is that of a Service too',
    record: lot('Bound', { claimRef: claimedBy }),
    others: [ofService('shop', 'office')],
    refusal: `then run \`kubectl eip release ${address}\``,
  },
  { name: 'a warm address', record: warm(lot('Available')), refusal: 'Lower --warm-pool' },
  {
    name: 'an address that a Service shows',
    record: own('Released'),
    services: [showing],
    refusal: 'Service default/ghost shows it',
  },
]

for (const { name, record, others = [], services = [], refusal, consequence } of releases)
  test(`release of ${name}`, () => {
    const plan = planRelease(record, users([record, ...others], services))
    if (refusal !== undefined) assert.match('refusal' in plan ? plan.refusal : '', refusal)
    else assert.match('consequence' in plan ? plan.consequence : '', consequence ?? '')
  })

const to = 'shop/till'
const claimRef = { namespace: 'shop', name: 'till' }
const targetRecord = { ...makeRecord({ phase: 'Released', address: '203.0.113.9' }, { claimRef }) }
const target = { ...targetRecord, metadata: { ...targetRecord.metadata, name: 'shop.till', uid: 'record-2' } }

type Moves = {
  name: string
  record: ElasticIP
  others?: ElasticIP[]
  target?: Service
  services?: Service[]
  plan: object | string | RegExp
}

const moves: Moves[] = [
  { name: 'an available address', record: lot('Available'), plan: { do: 'set-claim', claimRef } },
  {
    name: 'a kept address',
    record: own('Released'),
    plan: { do: 'provision', spec: { reservationID: 'res-1', location: 'da', reclaimPolicy: 'Retain', claimRef } },
  },
  {
    name: 'a bound address',
    record: own('Bound'),
    plan:
      '1. `kubectl annotate service -n default web --overwrite eip-admission.dev/reclaim-policy=Retain` ' +
      '2. `kubectl delete service -n default web` 3. `kubectl eip move default/web --to shop/till` 4. create Service shop/till',
  },
  {
    name: 'a bound second address',
    record: second('Bound'),
    plan: '3. `kubectl eip move default/web.ipv6 --to shop/till`',
  },
  {
    name: 'a kept second address',
    record: second('Released'),
    plan: { do: 'provision', spec: { reservationID: 'res-1', location: 'da', reclaimPolicy: 'Retain', claimRef } },
  },
  {
    name: 'a claimed provisioned address',
    record: lot('Bound', { claimRef: claimedBy }),
    plan: '1. `kubectl delete service -n default web` 2. `kubectl eip move office --to shop/till`',
  },
  {
    name: 'a claimed provisioned address that would go with its Service',
    record: lending('Delete'),
    plan: `1. \`${retainOffice}\` 2. \`kubectl delete service -n default web\` 3. \`kubectl eip move office --to shop/till\``,
  },
  {
    name: 'a lent address',
    record: lent,
    others: [lending('Retain')],
    plan: '1. `kubectl delete service -n default web` 2. `kubectl eip move office --to shop/till` 3. create Service shop/till',
  },
  {
    name: 'a lent address that would go with its Service',
    record: lent,
    others: [lending('Delete')],
    plan: `1. \`${retainOffice}\` 2. \`kubectl delete service -n default web\` 3. \`kubectl eip move office --to shop/till\``,
  },
  {
    name: 'a lent address whose ElasticIP is being deleted',
    record: lent,
    others: [deleted(lending('Delete'))],
    plan: 'ElasticIP office is being deleted',
  },
  {
    name: 'an address that the Service requests by name and does not have',
    record: own('Requested', { source: { name: 'office', type: 'Provisioned' } }),
    others: [lot('Bound', { claimRef: { ...claimedBy, name: 'other', elasticIPUID: 'record-2' } })],
    plan: '`kubectl eip move office --to shop/till`',
  },
  {
    name: 'an address that a Service of the same name requests and does not have',
    record: ofService('default', 'office', { source: { name: 'office', type: 'Provisioned' } }),
    others: [lot('Bound', { claimRef: { ...claimedBy, name: 'other', elasticIPUID: 'record-2' } })],
    plan: `To move that one: \`kubectl eip move ${address} --to shop/till\``,
  },
  {
    name: 'an address that a Service requests of an ElasticIP that does not exist',
    record: ofService('default', 'desk', { source: { name: 'office', type: 'Provisioned' } }),
    plan: /does not have its address$/,
  },
  {
    name: 'a claimed provisioned address whose name is that of a Service too',
    record: lot('Bound', { claimRef: claimedBy }),
    others: [ofService('shop', 'office')],
    plan: `2. \`kubectl eip move ${address} --to shop/till\``,
  },
  {
    name: 'an available address to a namespace that may not have it',
    record: lot('Available', { allowedNamespaces: ['default', 'desk'] }),
    plan:
      'ElasticIP office is for Services of other namespaces (spec.allowedNamespaces: default, desk). Allow namespace ' +
      `shop first: \`kubectl patch eip office --type=merge -p '{"spec":{"allowedNamespaces":["default","desk","shop"]}}'\``,
  },
  {
    name: 'an available address to a namespace that may have it',
    record: lot('Available', { allowedNamespaces: ['default', 'shop'] }),
    plan: { do: 'set-claim', claimRef },
  },
  {
    name: 'a lent address to a namespace that may not have it',
    record: lent,
    others: [lot('Bound', { claimRef: claimedBy, allowedNamespaces: ['default'] })],
    plan: 'Allow namespace shop first',
  },
  { name: 'a claimed address that is going', record: lot('Releasing', { claimRef: claimedBy }), plan: 'is Releasing' },
  { name: 'an address on its way', record: own('Releasing'), plan: 'is being released' },
  {
    name: 'a kept address that was released a moment ago',
    record: deleted(own('Released')),
    plan: 'is being released',
  },
  { name: 'a warm address', record: warm(lot('Available')), plan: 'in the warm pool' },
  { name: 'a deleted provisioned address', record: deleted(lot('Available')), plan: 'is being deleted' },
  {
    name: 'an address that a Service shows',
    record: own('Released'),
    services: [showing],
    plan: 'Service default/ghost shows it',
  },
  {
    name: 'an address for a Service that is kept another',
    record: own('Released'),
    others: [target],
    plan: '`kubectl eip release shop.till`',
  },
  {
    name: 'an address for a Service that shows another',
    record: lot('Available'),
    target: makeService({ namespace: 'shop', name: 'till', status: shows('203.0.113.9') }),
    plan: 'a Service cannot change its address',
  },
]

for (const { name, record, others = [], target: service, services = [], plan } of moves)
  test(`move of ${name}`, () => {
    const planned = planMove({ record, to, target: service, all: users([record, ...others], services) })
    if (typeof plan === 'string' || plan instanceof RegExp)
      assert.match('refusal' in planned ? planned.refusal : '', plan)
    else assert.equal(planned, plan)
  })

test('a kept address does not move to the Service that it is kept for', () => {
  const record = own('Released')
  const planned = planMove({ record, to: 'default/web', target: undefined, all: users([record]) })
  assert.match('refusal' in planned ? planned.refusal : '', 'is kept for Service default/web already')
})

test('a provisioned address that is kept for the Service already is written once more', () => {
  const claimRef = { namespace: 'default', name: 'web' }
  const available = lot('Available')
  const record = { ...available, spec: { ...available.spec, claimRef } }
  const planned = planMove({ record, to: 'default/web', target: undefined, all: users([record]) })
  assert.equal(planned, { do: 'set-claim', claimRef })
})

const adopt = (what: string, facts: { name?: string; service?: string; allowed?: string[] } = {}) =>
  newProvisioned({ what, allowed: [], ...facts }, { all: [lot('Available')], namespace: 'shop' })

test('adopt writes a provisioned ElasticIP that is kept by default', () => {
  const { metadata, spec } = adopt('res-2', { service: 'till' })
  assert.match(metadata.name, /^adopted-[0-9a-f]{8}$/)
  assert.equal(spec, { reservationID: 'res-2', reclaimPolicy: 'Retain', claimRef })
  assert.equal(adopt('res-2', { name: 'a', allowed: ['shop'] }).spec, {
    reservationID: 'res-2',
    reclaimPolicy: 'Retain',
    allowedNamespaces: ['shop'],
  })
})

test('adopt refuses what an ElasticIP has already, and what is no reservation', () => {
  assert.throws(() => adopt('res-1'), 'belongs to ElasticIP office already (Available)')
  assert.throws(() => adopt(address), 'belongs to ElasticIP office already (Available)')
  assert.throws(() => adopt('203.0.113.99'), 'finds a reservation by its id')
  assert.throws(() => adopt('a b'), 'is not the id of a reservation')
  const forOthers = 'Service shop/till could not have it: --allow names default alone. Add shop to --allow'
  assert.throws(() => adopt('res-2', { service: 'till', allowed: ['default'] }), forOthers)
  assert.is(adopt('res-2', { service: 'till', allowed: ['default', 'shop'] }).spec.claimRef?.namespace, 'shop')
  assert.throws(() => adopt('x\u001b[2J'), 'is not the id of a reservation')
  // With one dot it would be the record of a Service.
  assert.throws(() => adopt('res-2', { name: 'default.web' }), 'cannot be the name')
})

test.run()
