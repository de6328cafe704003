import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  announcedAddress,
  announcedAddresses,
  factsOf,
  foreignStatuses,
  leavingAddresses,
  mentionsAddress,
  undecidedAddresses,
  type ServiceState,
  serviceStates,
} from '../../../controllers/announcing/announced.ts'
import type { Dependencies } from '../../../controllers/dependencies.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { assigned } from '../../../ledger/record/status.ts'
import { serviceFinalizer } from '../../../ledger/record/names.ts'
import { makeRecord, makeService } from '../../builders.ts'

const address = '203.0.113.40'
const shown = makeService({ loadBalancerIP: address })
const held = makeRecord({ phase: 'Bound', address })
const reserve: Want = { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] }
const wrong: Want = { kind: 'wrong', problems: ['a problem'] }
const named: Want = { kind: 'named', elasticIP: 'office', family: 'ipv4', warnings: [] }
const foreign: Want = { kind: 'foreign', reason: 'its class is other', requested: [] }
const own: Want = { kind: 'own', address, where: 'spec.loadBalancerIP' }

const cases: { name: string; shown: ServiceState; is: string | undefined }[] = [
  {
    name: 'an address that the Service shows and the ledger holds',
    shown: { service: shown, wanted: reserve, record: held },
    is: address,
  },
  {
    name: 'an address that the ledger has and the Service does not show yet',
    shown: { service: makeService(), wanted: reserve, record: held },
    is: undefined,
  },
  { name: 'a Service without a record', shown: { service: shown, wanted: reserve, record: undefined }, is: undefined },
  {
    name: 'an address on its way back',
    shown: { service: shown, wanted: reserve, record: makeRecord({ phase: 'Releasing', address }) },
    is: undefined,
  },
  {
    name: 'an address that was lost, while the Service still shows it',
    shown: { service: shown, wanted: reserve, record: makeRecord({ phase: 'Bound', address: '203.0.113.41' }) },
    is: undefined,
  },
  {
    name: 'a Service that is being deleted',
    shown: {
      service: makeService({ loadBalancerIP: address, deletionTimestamp: 'now' }),
      wanted: reserve,
      record: held,
    },
    is: undefined,
  },
  { name: 'an annotation that went wrong later', shown: { service: shown, wanted: wrong, record: held }, is: address },
  {
    name: "a person's own address",
    shown: { service: shown, wanted: own, record: undefined },
    is: address,
  },
  {
    name: 'a user-chosen address that it may not have, as far as we know',
    shown: { service: shown, wanted: { ...own, doubt: { reason: 'unknown', isDecided: false } }, record: undefined },
    is: undefined,
  },
  {
    name: 'our address on a Service that another program serves',
    shown: { service: shown, wanted: foreign, record: held },
    is: undefined,
  },
  {
    name: 'our address that it requests of that program',
    shown: { service: shown, wanted: { ...foreign, requested: [{ address, where: 'an annotation' }] }, record: held },
    is: address,
  },
  {
    name: 'a Service in a namespace that was excluded after it got its address',
    shown: { service: shown, wanted: { kind: 'ignored', reason: 'its namespace is excluded' }, record: held },
    is: address,
  },
  {
    name: 'an address that was provisioned, and chosen by its name',
    shown: { service: shown, wanted: named, record: held },
    is: address,
  },
  {
    name: 'a Service that wants none',
    shown: { service: shown, wanted: { kind: 'nothing', reason: 'its type is ClusterIP' }, record: held },
    is: undefined,
  },
]

const six = '2001:db8::40'
const bound = { claimRef: { namespace: 'default', name: 'web', uid: 'uid-1' } }
const first = makeRecord({ phase: 'Bound', address }, bound)
const second: ElasticIP = {
  ...makeRecord({ phase: 'Bound', address: six }, { ...bound, ipFamily: 'IPv6' }),
  metadata: { name: 'default.web.ipv6' },
}
const two: Want = { ...reserve, second: { family: 'ipv6', isRequired: true } }
for (const { name, wanted, is } of [
  { name: 'that wants two', wanted: two, is: [address, six] },
  { name: 'that lost our annotation', wanted: own, is: [address, six] },
  { name: 'with a user-chosen address', wanted: { ...own, address: '198.51.100.9' }, is: ['198.51.100.9'] },
  { name: 'that wants one', wanted: reserve, is: [address] },
  { name: 'that went wrong', wanted: wrong, is: [address, six] },
]) {
  test(`of a Service with two addresses ${name}, ${is.join(' and ')} is announced`, () => {
    const records = new Map([first, second].map((record) => [record.metadata.name, record]))
    const caches = { services: { list: () => [shown] }, records } as unknown as Dependencies['caches']
    const states = serviceStates({ caches, want: () => wanted })
    assert.equal(
      announcedAddresses(states),
      is.map((one) => ({ address: one, services: ['default/web'] })),
    )
  })
}

for (const { name, service, phase, is } of [
  { name: 'is bound to the Service', service: shown, phase: 'Bound', is: six },
  {
    name: 'an earlier Service of the name left',
    service: makeService({ loadBalancerIP: address, uid: 'uid-2' }),
    phase: 'Bound',
    is: undefined,
  },
  { name: 'no Service has taken yet', service: shown, phase: 'Reserved', is: undefined },
] as const) {
  test(`a second address that ${name} is ${is === undefined ? 'not announced' : 'announced'}`, () => {
    const record = { ...second, status: { phase, address: six } }
    assert.is(announcedAddress({ service, wanted: two, record, first }), is)
  })
}

for (const { name, shown: one, is } of cases) {
  test(`announced, ${is === undefined ? 'no' : 'yes'}: ${name}`, () => assert.is(announcedAddress(one), is))
}

test('a Service that has an address announced mentions it', () => {
  for (const { shown: one, is } of cases) if (is !== undefined) assert.ok(mentionsAddress(one.service, is))
  const said = '2001:DB8::0001'
  assert.ok(mentionsAddress(makeService({ loadBalancerIP: said }), '2001:db8::1'))
  assert.ok(mentionsAddress(makeService({ annotations: { 'metallb.io/loadBalancerIPs': said } }), said))
  assert.not(mentionsAddress(makeService({ loadBalancerIP: '203.0.113.4' }), '203.0.113.40'))
})

test('an address that two Services show is announced once, for both', () => {
  const services = [makeService({ name: 'a' }), makeService({ name: 'b' })]
  assert.equal(announcedAddresses(services.map((service) => ({ service, wanted: own, record: undefined }))), [
    { address, services: ['default/a', 'default/b'] },
  ])
})

const assignedTo = assigned('True', { reason: 'OnService', message: '', now: new Date(0) })
const showing = (more: Parameters<typeof makeService>[0] = {}) =>
  ({ ...makeService(more), status: { loadBalancer: { ingress: [{ ip: address }] } } }) as ServiceState['service']
const undecided: { name: string; shown: ServiceState; is: boolean }[] = [
  { name: 'a Service without a record', shown: { service: showing(), wanted: reserve, record: undefined }, is: true },
  { name: 'one that went wrong', shown: { service: showing(), wanted: wrong, record: undefined }, is: true },
  {
    name: 'one whose address no Service may have',
    shown: { service: showing(), wanted: { ...wrong, forbiddenAddress: address }, record: undefined },
    is: false,
  },
  { name: 'a Service with a record', shown: { service: showing(), wanted: reserve, record: held }, is: false },
  {
    name: 'a Service whose record may yet find it',
    shown: { service: showing(), wanted: reserve, record: makeRecord() },
    is: true,
  },
  {
    name: 'a Service whose record lost it',
    shown: {
      service: showing(),
      wanted: reserve,
      record: makeRecord({ phase: 'Requested', conditions: [assignedTo] }),
    },
    is: false,
  },
  { name: "a person's own address", shown: { service: showing(), wanted: own, record: undefined }, is: false },
  { name: 'a Service that shows nothing', shown: { service: shown, wanted: reserve, record: undefined }, is: false },
  {
    name: 'a Service that is being deleted',
    shown: { service: showing({ deletionTimestamp: 'now' }), wanted: reserve, record: undefined },
    is: false,
  },
]
for (const { name, shown: state, is } of undecided) {
  test(`the address of ${name} is ${is ? 'undecided' : 'decided'}`, () => {
    assert.equal(undecidedAddresses([state]), is ? [{ address, services: ['default/web'] }] : [])
  })
}

const deleted = { deletionTimestamp: 'now', finalizers: [serviceFinalizer] }
const nothing: Want = { kind: 'nothing', reason: 'its type is ClusterIP' }
const leaving: { name: string; shown: ServiceState; is: boolean }[] = [
  {
    name: 'our Service that is being deleted',
    shown: { service: showing(deleted), wanted: reserve, record: held },
    is: true,
  },
  {
    name: 'one of them with a user-chosen address',
    shown: { service: showing(deleted), wanted: own, record: undefined },
    is: true,
  },
  {
    name: 'one that waits for somebody else',
    shown: { service: showing({ deletionTimestamp: 'now' }), wanted: own, record: undefined },
    is: false,
  },
  {
    name: 'a Service that no longer wants it',
    shown: { service: showing(), wanted: nothing, record: held },
    is: true,
  },
  {
    name: 'a Service that shows what its record does not hold',
    shown: { service: showing(), wanted: nothing, record: makeRecord({ phase: 'Bound', address: '203.0.113.41' }) },
    is: false,
  },
  {
    name: 'a Service that has it announced',
    shown: { service: showing(), wanted: own, record: undefined },
    is: false,
  },
]
for (const { name, shown: state, is } of leaving) {
  test(`the address of ${name} is ${is ? 'leaving' : 'not leaving'}`, () => {
    assert.equal(leavingAddresses([state]), is ? [{ address, services: ['default/web'] }] : [])
  })
}

test('a status is foreign if nothing of ours explains it; the deletion of a Service that waits for us does', () => {
  const status = { loadBalancer: { ingress: [{ ip: address }] } }
  const foreignOf = (facts: Parameters<typeof makeService>[0]) =>
    foreignStatuses([{ service: makeService({ status, ...facts }), wanted: { ...foreign }, record: undefined }])
  assert.equal(foreignOf({}), [{ service: 'default/web', loadBalancerClass: undefined }])
  const going = { loadBalancerIP: address, deletionTimestamp: 'now' }
  assert.equal(foreignOf({ ...going, finalizers: [serviceFinalizer] }), [], 'a user-chosen address has no record')
  assert.is(foreignOf({ ...going, finalizers: ['example.com/theirs'] }).length, 1)
  const released = makeRecord({ phase: 'Releasing', address })
  assert.equal(
    foreignStatuses([{ service: showing(), wanted: reserve, record: released }]),
    [],
    'its record explains it',
  )
})

test('the class, the labels and the annotations of a Service are what announcing software learns of it', () => {
  const classed = makeService({ name: 'api', loadBalancerClass: 'a.test/b' })
  classed.metadata.labels = { tier: 'gold' }
  classed.metadata.annotations = { 'a.test/c': 'd' }
  assert.equal([classed, shown, undefined].map(factsOf), [
    { loadBalancerClass: 'a.test/b', labels: { tier: 'gold' }, annotations: { 'a.test/c': 'd' } },
    {},
    undefined,
  ])
})

test.run()
