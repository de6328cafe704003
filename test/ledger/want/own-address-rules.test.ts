import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { MarkScheme } from '../../../clouds/ports/cloud.ts'
import type { Service } from '../../../kube/objects.ts'
import { rangeSet } from '../../../lib/ip-address.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import {
  usedAddresses,
  type OwnAddressFacts,
  checkOwnAddress,
  isAnnounceable,
} from '../../../ledger/want/own-address-rules.ts'
import { serviceMarks } from '../../../ledger/record/marks.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { isWanted } from '../../../ledger/want/wanted.ts'
import { makeLot, makeRecord, makeReservation, makeService } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const address = '198.51.100.7'
const status = { loadBalancer: { ingress: [{ ip: address }] } }
const older = '2026-01-01T00:00:00Z'
const newer = '2026-01-02T00:00:00Z'

/** A Service with the address, created at a time. */
const user = (namespace: string, creationTimestamp: string | undefined, facts: Partial<Service> = {}) => ({
  ...makeService({ namespace, loadBalancerIP: address, ...(creationTimestamp && { creationTimestamp }) }),
  ...facts,
})
/** Another Service of the namespace with the address. */
const beside = (creationTimestamp: string, ...ports: NonNullable<Service['spec']['ports']>): Service => {
  const { metadata, spec, ...service } = user('default', creationTimestamp)
  return { ...service, metadata: { ...metadata, name: 'beside' }, spec: { ...spec, ports } }
}
const recordOf = (namespace: string, more: object = {}) => {
  const record = makeRecord({ phase: 'Bound', address, ...more }, { claimRef: { namespace, name: 'holder' } })
  return { ...record, metadata: { ...record.metadata, name: `${namespace}.holder` } }
}

const lot = (spec: Partial<ElasticIP['spec']>) =>
  makeLot('office', { reclaimPolicy: 'Retain', ...spec }, { phase: 'Available', address })
const labelled = (source: ElasticIP) => ({
  ...source,
  metadata: { ...source.metadata, labels: { 'eip-admission.dev/warm-pool': 'true' } },
})
const scheme: MarkScheme = { usage: 'auto', separator: '/', cluster: 'here' }
const others = { usage: 'auto', cluster: 'other-cluster' }
const marked = (key: string): Facts => ({ reservation: () => makeReservation({ marks: serviceMarks(scheme, key) }) })

type Facts = Partial<OwnAddressFacts>
const facts = (some: Facts): OwnAddressFacts => ({
  clusterNetwork: () => undefined,
  isInRanges: () => false,
  isReserved: () => true,
  reservation: () => undefined,
  scheme,
  nodeClaim: () => undefined,
  records: () => [],
  users: () => [],
  ...some,
})
const own = (text = address): Want => ({ kind: 'own', address: text, where: 'spec.loadBalancerIP' })

const claimed: Facts = { nodeClaim: () => 'is assigned to node node-a' }

type Verdict = 'own' | 'waits' | 'keeps' | 'refused' | 'loses'
function verdictOf(wanted: Want): Verdict {
  if (wanted.kind === 'own') return wanted.doubt ? (wanted.doubt.isDecided ? 'keeps' : 'waits') : 'own'
  assert.is(wanted.kind, 'wrong')
  return wanted.kind === 'wrong' && wanted.forbiddenAddress !== undefined ? 'loses' : 'refused'
}

const cases: { name: string; verdict: Verdict; text?: string; service?: Service; facts?: Facts; says?: string }[] = [
  { name: 'a reservation of the project', verdict: 'own' },
  { name: 'an address in the ranges', verdict: 'own', facts: { isInRanges: () => true, isReserved: () => false } },
  {
    name: 'an address nobody reserved',
    verdict: 'refused',
    facts: { isReserved: () => false },
    says: 'is not reserved',
  },
  {
    name: 'the same, while the previous reservation of the address is given back',
    verdict: 'refused',
    facts: {
      records: () => [recordOf('other', { deletionRequestedAt: older }), lot({ allowedNamespaces: ['team-a'] })],
    },
    says: 'ElasticIP office, which is for Services of other namespaces (spec.allowedNamespaces: team-a)',
  },
  {
    name: 'such a one that is shown',
    verdict: 'keeps',
    service: makeService({ status }),
    facts: { isReserved: () => false },
  },
  { name: 'an address while nothing is known', verdict: 'waits', facts: { isReserved: () => undefined } },
  {
    name: 'an address with our record',
    verdict: 'own',
    facts: { isReserved: () => undefined, records: () => [recordOf('default')] },
  },
  {
    name: 'an address with a record of another namespace',
    verdict: 'loses',
    facts: { records: () => [recordOf('other')] },
    says: 'is held by Service other/holder',
  },
  {
    name: 'a provisioned address',
    verdict: 'own',
    facts: { records: () => [lot({})] },
  },
  {
    name: 'a provisioned address for the namespace of the Service',
    verdict: 'own',
    facts: { records: () => [lot({ allowedNamespaces: ['default'] })] },
  },
  {
    name: 'a provisioned address for other namespaces, even in the ranges',
    verdict: 'refused',
    facts: { isInRanges: () => true, records: () => [lot({ allowedNamespaces: ['team-a', 'team-b'] })] },
    says: 'ElasticIP office, which is for Services of other namespaces (spec.allowedNamespaces: team-a, team-b)',
  },
  {
    name: 'such a one that is shown',
    verdict: 'keeps',
    service: makeService({ status }),
    facts: { records: () => [lot({ allowedNamespaces: [] })] },
  },
  {
    name: 'a provisioned address that an operator keeps for another Service of the namespace',
    verdict: 'refused',
    facts: { records: () => [lot({ claimRef: { namespace: 'default', name: 'shop' } })] },
    says: 'ElasticIP office, which is only for Service default/shop (spec.claimRef)',
  },
  {
    name: 'a provisioned address that an operator keeps for a Service of another namespace',
    verdict: 'refused',
    facts: { records: () => [lot({ claimRef: { namespace: 'other', name: 'web' } })] },
    says: 'ElasticIP office, which is only for Service other/web (spec.claimRef)',
  },
  {
    name: 'a provisioned address that an operator keeps for this Service',
    verdict: 'own',
    facts: { records: () => [lot({ claimRef: { namespace: 'default', name: 'web' } })] },
  },
  {
    name: 'a provisioned address that a Service of another namespace has claimed',
    verdict: 'loses',
    facts: { records: () => [lot({ claimRef: { namespace: 'other', name: 'web', elasticIPUID: 'uid' } })] },
    says: 'is held by Service other/web',
  },
  {
    name: 'an address in the ranges that a Node claims',
    verdict: 'refused',
    facts: { ...claimed, isInRanges: () => true, isReserved: () => false },
    says: 'is assigned to node node-a',
  },
  {
    name: 'such a one that is shown',
    verdict: 'keeps',
    service: makeService({ status }),
    facts: { ...claimed, isInRanges: () => true, isReserved: () => false },
  },
  {
    name: 'an address in the ranges that a Node claims, while nothing is known',
    verdict: 'waits',
    facts: { ...claimed, isInRanges: () => true, isReserved: () => undefined },
  },
  {
    name: "another cluster's reservation in the ranges that a Node claims",
    verdict: 'refused',
    facts: { ...claimed, isInRanges: () => true, reservation: () => makeReservation({ marks: others }) },
    says: 'is assigned to node node-a',
  },
  { name: 'a reservation that a Node claims', verdict: 'own', facts: claimed },
  {
    name: 'a reservation in the ranges that a Node claims',
    verdict: 'own',
    facts: { ...claimed, isInRanges: () => true },
  },
  {
    name: 'an address with our record that a Node claims',
    verdict: 'own',
    facts: { ...claimed, isReserved: () => undefined, records: () => [recordOf('default')] },
  },
  {
    name: 'an address that is assigned to a machine and shown',
    verdict: 'keeps',
    service: makeService({ status }),
    facts: { reservation: () => makeReservation({ holder: 'server 7' }) },
  },
  {
    name: 'a warm address',
    verdict: 'refused',
    facts: { records: () => [labelled(lot({}))] },
    says: 'is in the warm pool (ElasticIP office), for Services that name no address',
  },
  {
    name: "another cluster's reservation",
    verdict: 'refused',
    facts: { reservation: () => makeReservation({ marks: others }) },
    says: "is another cluster's reservation according to its marks (usage=auto, cluster=other-cluster)",
  },
  {
    name: "another cluster's reservation that is shown",
    verdict: 'keeps',
    service: makeService({ status }),
    facts: { reservation: () => makeReservation({ marks: others }) },
  },
  { name: "the Service's reservation, whose record is lost", verdict: 'own', facts: marked('default/web') },
  {
    name: "another Service's reservation, whose record is lost",
    verdict: 'refused',
    facts: marked('payments/web'),
    says: "is another Service's reservation according to its marks",
  },
  {
    name: "another Service's reservation that is shown",
    verdict: 'keeps',
    service: makeService({ status }),
    facts: marked('payments/web'),
  },
  {
    name: "another cluster's reservation in the ranges",
    verdict: 'own',
    facts: { reservation: () => makeReservation({ marks: others }), isInRanges: () => true },
  },
  {
    name: 'an address that is given back',
    verdict: 'loses',
    facts: { records: () => [recordOf('default', { deletionRequestedAt: older })] },
    says: 'is released at the provider (ElasticIP default.holder)',
  },
  {
    name: 'an address inside the cluster',
    verdict: 'loses',
    facts: { clusterNetwork: () => 'in a Service range' },
    says: 'is in a Service range of this cluster',
  },
  ...Object.entries({
    '0.0.0.0': 'is an unspecified address',
    '0.1.2.3': 'is in a range that IETF protocols use',
    '127.8.8.8': 'is a loopback address',
    '169.254.169.254': 'is a link-local address',
    '192.0.0.9': 'is in a range that IETF protocols use',
    '224.0.0.5': 'is a multicast address',
    '240.0.0.1': 'is in a range that IETF protocols use',
    '255.255.255.255': 'is the broadcast address',
    '::': 'is an unspecified address',
    '::1': 'is a loopback address',
    'fe80::1': 'is a link-local address',
    'ff02::1': 'is a multicast address',
    '::ffff:c633:6407': 'is an IPv4 address written as IPv6',
  }).map(([text, says]) => ({
    name: `special address ${text}, even in the ranges`,
    text,
    verdict: 'loses' as const,
    facts: { isInRanges: () => true },
    says,
  })),
  {
    name: 'an address of an older Service of another namespace',
    verdict: 'refused',
    service: user('default', newer),
    facts: { users: () => [user('other', older)] },
    says: 'is used by Service other/web',
  },
  {
    name: 'an address of a newer Service of another namespace',
    verdict: 'own',
    service: user('default', older),
    facts: { users: () => [user('other', newer)] },
  },
  {
    name: 'an address that a newer Service of another namespace shows',
    verdict: 'refused',
    service: user('default', older),
    facts: { users: () => [user('other', newer, { status })] },
  },
  {
    name: 'an address of any Service, for a new one',
    verdict: 'refused',
    service: user('default', undefined),
    facts: { users: () => [user('other', newer)] },
  },
  {
    name: 'an address of an older Service of the same namespace',
    verdict: 'own',
    service: user('default', newer),
    facts: { users: () => [beside(older, { port: 53, protocol: 'UDP' })] },
  },
  {
    name: 'an address with a port of an older Service of the same namespace',
    verdict: 'waits',
    service: user('default', newer),
    facts: { users: () => [beside(older, { port: 443 }, { port: 80, protocol: 'TCP' })] },
    says: 'is used by Service default/beside on port 80/TCP too: change the port',
  },
  {
    name: 'the same port with another protocol',
    verdict: 'own',
    service: user('default', newer),
    facts: { users: () => [beside(older, { port: 80, protocol: 'UDP' })] },
  },
  {
    name: 'an address with a port of a newer Service of the same namespace',
    verdict: 'own',
    service: user('default', older),
    facts: { users: () => [beside(newer, { port: 80 })] },
  },
  {
    name: 'an address that both show, with one port',
    verdict: 'keeps',
    service: user('default', newer, { status }),
    facts: { users: () => [{ ...beside(older, { port: 80 }), status }] },
  },
  {
    name: 'an address that the Service itself uses',
    verdict: 'own',
    service: user('default', newer),
    facts: { users: () => [user('default', older)] },
  },
  {
    name: 'an address that both show',
    verdict: 'keeps',
    service: user('default', newer, { status }),
    facts: { users: () => [user('other', older, { status })] },
  },
]
for (const { name, verdict, text, service = makeService(), facts: some = {}, says = '' } of cases) {
  test(`${name}: ${verdict}`, () => {
    const wanted = checkOwnAddress(own(text), service, facts(some))
    assert.is(verdictOf(wanted), verdict)
    assert.match(JSON.stringify(wanted), says)
  })
}

test('only a user-chosen address is checked', () => {
  const wanted: Want = { kind: 'nothing', reason: '' }
  assert.is(checkOwnAddress(wanted, makeService(), facts({ isReserved: () => false })), wanted)
})

test('an address in doubt is announced only where the Service shows it, and releases none until it is decided', () => {
  const doubt = { reason: 'unknown', isDecided: false }
  const wanted = { ...own(), doubt } as Extract<Want, { kind: 'own' }>
  assert.equal([isAnnounceable(makeService(), wanted), isAnnounceable(makeService({ status }), wanted)], [false, true])
  const record = recordOf('default')
  const other = { ...record, status: { ...record.status, address: '192.0.2.77' } }
  assert.is(isWanted(other, wanted), true)
  assert.is(isWanted(other, { ...wanted, doubt: { ...doubt, isDecided: true } }), false)
  assert.is(
    isWanted(record, { ...wanted, doubt: { ...doubt, isDecided: true } }),
    true,
    'it shows what the ledger holds',
  )
})

test('a Service uses the addresses in its status, and those that it requests from us, in canonical form', () => {
  const requestAnnotations = { annotations: ['metallb.io/loadBalancerIPs'], besideSpec: false }
  const served = { classes: ['none', 'example.com/ours'], requestAnnotations }
  const used = (facts: Parameters<typeof makeService>[0]) => usedAddresses(makeService(facts), served)
  assert.equal(used({ loadBalancerIP: '2001:DB8::1', status }), [address, '2001:db8::1'])
  assert.equal(used({ annotations: { 'metallb.io/loadBalancerIPs': address } }), [address])
  assert.equal(used({ loadBalancerIP: '2001:DB8::1', loadBalancerClass: 'example.com/other', status }), [address])
  assert.equal(used({ loadBalancerIP: '2001:DB8::1', loadBalancerClass: 'example.com/ours' }), ['2001:db8::1'])
  const forged = { 'eip-admission.dev/address': address }
  assert.equal(used({ annotations: forged }), [])
  assert.equal(used({ loadBalancerIP: address, annotations: forged }), [])
  assert.equal(used({ type: 'ClusterIP', loadBalancerIP: '2001:DB8::1' }), [])
})

test('ranges are networks of their family', () => {
  const isIn = rangeSet(['198.51.100.0/24', '2001:db8::/32', 'nonsense'])
  assert.is(isIn({ text: address, family: 'ipv4' }), true)
  assert.is(isIn({ text: '198.51.101.1', family: 'ipv4' }), false)
  assert.is(isIn({ text: '2001:db8::1', family: 'ipv6' }), true)
})

testRows(
  'ledger/want/own-address-rules.ts',
  cases.map(({ name, verdict }) => [name, verdict === 'own' ? 'gets it' : verdict]),
  [
    'special address 127.8.8.8, even in the ranges',
    'an address inside the cluster',
    'an address that is given back',
    'an address with a record of another namespace',
    'an address of an older Service of another namespace',
    'an address with a port of an older Service of the same namespace',
    'an address that is assigned to a machine and shown',
    'a provisioned address for other namespaces, even in the ranges',
    'an address with our record',
    'an address in the ranges',
    "another cluster's reservation",
    'a reservation that a Node claims',
    'an address while nothing is known',
    'an address in the ranges that a Node claims',
    'an address nobody reserved',
  ],
)

test.run()
