import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { type Want, want, wantsByFields } from '../../../ledger/want/want.ts'
import { isWanted } from '../../../ledger/want/wanted.ts'
import { makePolicy, makeRecord, makeService, metros } from '../../builders.ts'
import type { Policy } from '../../../settings/service-policy.ts'

const claimRef = { namespace: 'default', name: 'web' }
const cases: { name: string; service: Service; policy: Policy; wanted: Want }[] = [
  {
    name: 'Retain, where it is not allowed',
    service: makeService({ annotations: { 'eip-admission.dev/reclaim-policy': 'Retain' } }),
    policy: { ...makePolicy({ metro: 'da' }), allowRetain: false },
    wanted: {
      kind: 'wrong',
      problems: [
        'annotation eip-admission.dev/reclaim-policy: "Retain" is not allowed in this cluster (--allow-retain); remove it',
      ],
    },
  },
  {
    name: 'Retain, where it is the default that no Service may request',
    service: makeService({ annotations: { 'eip-admission.dev/reclaim-policy': 'Retain' } }),
    policy: { ...makePolicy({ metro: 'da' }), allowRetain: false, reclaimPolicy: 'Retain' },
    wanted: { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Retain', isReclaimStated: true, warnings: [] },
  },
  {
    name: 'a LoadBalancer requests an address in the location of the setting',
    service: makeService(),
    policy: makePolicy({ metro: 'da' }),
    wanted: { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] },
  },
  {
    name: 'the annotation decides the location where no setting does',
    service: makeService({ annotations: { 'metal.equinix.com/eip-metro': 'SV' } }),
    policy: makePolicy({}),
    wanted: { kind: 'reserve', location: 'sv', family: 'ipv4', reclaim: 'Delete', warnings: [] },
  },
  {
    name: 'an annotation names the ElasticIP whose address the Service requests',
    service: makeService({ annotations: { 'eip-admission.dev/elastic-ip': 'office' } }),
    policy: makePolicy({}),
    wanted: { kind: 'named', elasticIP: 'office', family: 'ipv4', warnings: [] },
  },
  {
    name: 'with a named ElasticIP other annotations are ignored, with warnings',
    service: makeService({
      loadBalancerIP: '198.51.100.9',
      annotations: {
        'eip-admission.dev/elastic-ip': 'office',
        'eip-admission.dev/reclaim-policy': 'Delete',
        'metal.equinix.com/eip-metro': 'sv',
      },
    }),
    policy: makePolicy({ metro: 'da' }),
    wanted: {
      kind: 'named',
      elasticIP: 'office',
      family: 'ipv4',
      warnings: [
        'annotation metal.equinix.com/eip-metro: "sv" is ignored, ElasticIP office decides',
        'annotation eip-admission.dev/reclaim-policy: "Delete" is ignored, ElasticIP office decides',
        'spec.loadBalancerIP: "198.51.100.9" is ignored, ElasticIP office decides',
      ],
    },
  },
  {
    name: 'a facility setting wins over a metro setting',
    service: makeService(),
    policy: makePolicy({ metro: 'da', facility: 'da11' }),
    wanted: { kind: 'reserve', location: 'da11', family: 'ipv4', reclaim: 'Delete', warnings: [] },
  },
  {
    name: 'a facility annotation wins over a metro annotation',
    service: makeService({
      annotations: { 'metal.equinix.com/eip-metro': 'sv', 'metal.equinix.com/eip-facility': 'da11' },
    }),
    policy: makePolicy({}),
    wanted: {
      kind: 'reserve',
      location: 'da11',
      family: 'ipv4',
      reclaim: 'Delete',
      warnings: ['annotation metal.equinix.com/eip-metro: "sv" is ignored, metal.equinix.com/eip-facility says "da11"'],
    },
  },
  {
    name: 'a setting wins over an annotation, with a warning',
    service: makeService({ annotations: { 'metal.equinix.com/eip-metro': 'sv' } }),
    policy: makePolicy({ metro: 'da' }),
    wanted: {
      kind: 'reserve',
      location: 'da',
      family: 'ipv4',
      reclaim: 'Delete',
      warnings: ['annotation metal.equinix.com/eip-metro: "sv" is ignored, METAL_METRO_NAME says "da"'],
    },
  },
  {
    name: 'an annotation requests Retain',
    service: makeService({ annotations: { 'eip-admission.dev/reclaim-policy': 'Retain' } }),
    policy: makePolicy({ metro: 'da' }),
    wanted: { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Retain', isReclaimStated: true, warnings: [] },
  },
  {
    name: 'an address in the spec is a user-chosen address',
    service: makeService({ loadBalancerIP: '192.0.2.9' }),
    policy: makePolicy({}),
    wanted: { kind: 'own', address: '192.0.2.9', where: 'spec.loadBalancerIP' },
  },
  {
    name: 'an address in a request annotation is a user-chosen address',
    service: makeService({ annotations: { 'metallb.io/loadBalancerIPs': '192.0.2.9' } }),
    policy: makePolicy({}),
    wanted: { kind: 'own', address: '192.0.2.9', where: 'annotation metallb.io/loadBalancerIPs' },
  },
  {
    name: 'a Service that requests several addresses is for others',
    service: makeService({ annotations: { 'metallb.io/loadBalancerIPs': '192.0.2.9,2001:db8::9' } }),
    policy: makePolicy({}),
    wanted: {
      kind: 'foreign',
      reason: 'annotation metallb.io/loadBalancerIPs requests several addresses',
      requested: ['192.0.2.9', '2001:db8::9'].map((one) => ({
        address: one,
        where: 'annotation metallb.io/loadBalancerIPs',
      })),
    },
  },
  {
    name: 'each of several requests that is no address is a mistake',
    service: makeService({
      loadBalancerIP: 'spec.example.com',
      annotations: { 'metallb.io/loadBalancerIPs': '192.0.2.9, web.example.com,,203-0-113-7.sslip.io' },
    }),
    policy: makePolicy({}),
    wanted: {
      kind: 'wrong',
      problems: [
        'spec.loadBalancerIP: "spec.example.com" is not an IP address',
        'annotation metallb.io/loadBalancerIPs: "web.example.com" is not an IP address',
        'annotation metallb.io/loadBalancerIPs: "203-0-113-7.sslip.io" is not an IP address',
      ],
    },
  },
  {
    name: 'what a Service of another class requests is no mistake',
    service: makeService({
      loadBalancerClass: 'example.com/other',
      annotations: { 'metallb.io/loadBalancerIPs': 'one.example.com,two.example.com' },
    }),
    policy: makePolicy({}),
    wanted: { kind: 'foreign', reason: 'its class is example.com/other', requested: [] },
  },
  {
    name: 'an unknown annotation is refused with those that users may write',
    service: makeService({ annotations: { 'metal.equinix.com/x': 'y' } }),
    policy: makePolicy({ metro: 'da' }),
    wanted: {
      kind: 'wrong',
      problems: [
        'annotation metal.equinix.com/x (value "y") is unknown; known are metal.equinix.com/eip-facility, ' +
          'metal.equinix.com/eip-metro, eip-admission.dev/elastic-ip, eip-admission.dev/reclaim-policy, eip-admission.dev/protect',
      ],
    },
  },
  {
    name: 'a request annotation without an address is a mistake',
    service: makeService({ annotations: { 'metallb.io/loadBalancerIPs': 'web.example.com' } }),
    policy: makePolicy({}),
    wanted: {
      kind: 'wrong',
      problems: ['annotation metallb.io/loadBalancerIPs: "web.example.com" is not an IP address'],
    },
  },
  {
    name: 'an address that we wrote is no own address',
    service: makeService({ loadBalancerIP: '192.0.2.9', annotations: { 'eip-admission.dev/address': '192.0.2.9' } }),
    policy: makePolicy({ metro: 'da' }),
    wanted: { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] },
  },
  {
    name: 'a Service that is no LoadBalancer wants no address',
    service: makeService({ type: 'ClusterIP' }),
    policy: makePolicy({ metro: 'da' }),
    wanted: { kind: 'nothing', reason: 'its type is ClusterIP' },
  },
  {
    name: 'an ExternalName wants no address',
    service: makeService({ type: 'ExternalName' }),
    policy: makePolicy({ metro: 'da' }),
    wanted: { kind: 'nothing', reason: 'its type is ExternalName' },
  },
  {
    name: 'a Service of another class is for others',
    service: makeService({ loadBalancerClass: 'example.com/other' }),
    policy: makePolicy({ metro: 'da' }),
    wanted: { kind: 'foreign', reason: 'its class is example.com/other', requested: [] },
  },
  {
    name: 'a Service of a class that we serve wants an address',
    service: makeService({ loadBalancerClass: 'example.com/ours' }),
    policy: { ...makePolicy({ metro: 'da' }), classes: ['example.com/ours'] },
    wanted: { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] },
  },
  {
    name: 'a Service without a class is ignored where we serve classes only',
    service: makeService(),
    policy: { ...makePolicy({ metro: 'da' }), classes: ['example.com/ours'] },
    wanted: { kind: 'ignored', reason: 'it has no class, and eip-admission serves Services of class example.com/ours' },
  },
  {
    name: 'a Service that was of a class that we serve wants no address any more',
    service: makeService({ type: 'ClusterIP' }),
    policy: { ...makePolicy({ metro: 'da' }), classes: ['example.com/ours'] },
    wanted: { kind: 'nothing', reason: 'its type is ClusterIP' },
  },
  {
    name: 'the Service of the control-plane address is ignored',
    service: makeService({ namespace: 'kube-system', name: 'cloud-provider-equinix-metal-kubernetes-external' }),
    policy: makePolicy({ metro: 'da' }),
    wanted: { kind: 'ignored', reason: 'it is the Service of the control-plane address' },
  },
  {
    name: 'a Service in an excluded namespace is ignored',
    service: makeService({ namespace: 'legacy' }),
    policy: { ...makePolicy({ metro: 'da' }), excludedNamespaces: ['legacy'] },
    wanted: { kind: 'ignored', reason: 'namespace legacy is excluded' },
  },
  {
    name: 'with load balancing off every Service is ignored, and none is released',
    service: makeService({ type: 'ClusterIP' }),
    policy: { ...makePolicy({ metro: 'da' }), loadBalancing: false },
    wanted: { kind: 'ignored', reason: 'load balancing is off' },
  },
  {
    name: 'a Service with more annotations than the API server stores is ignored',
    service: makeService({ annotations: { 'metallb.io/loadBalancerIPs': ','.repeat(262_144) } }),
    policy: makePolicy({ metro: 'da' }),
    wanted: { kind: 'ignored', reason: 'its annotations have more than 262144 bytes' },
  },
  {
    name: 'a Service whose annotations leave no room for ours is wrong',
    service: makeService({ annotations: { note: 'x'.repeat(261_117) } }),
    policy: makePolicy({ metro: 'da' }),
    wanted: {
      kind: 'wrong',
      problems: [
        'its annotations have more than 261120 bytes, which leaves no room for the ones about its address: shorten them',
      ],
    },
  },
  {
    name: 'a Service with room for our annotations gets an address',
    service: makeService({ annotations: { note: 'x'.repeat(261_116) } }),
    policy: makePolicy({ metro: 'da' }),
    wanted: { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] },
  },
  {
    name: 'spec.loadBalancerIP is one text, whatever it separates',
    service: makeService({
      loadBalancerIP: '192.0.2.9,192.0.2.10',
      annotations: { 'metallb.io/loadBalancerIPs': '192.0.2.9,2001:db8::9' },
    }),
    policy: makePolicy({}),
    wanted: { kind: 'wrong', problems: ['spec.loadBalancerIP: "192.0.2.9,192.0.2.10" is not an IP address'] },
  },
  {
    name: 'a headless LoadBalancer, which the API server refuses, is ignored',
    service: makeService({ clusterIP: 'None' }),
    policy: makePolicy({ metro: 'da' }),
    wanted: { kind: 'ignored', reason: 'it is headless' },
  },
]

for (const { name, service, policy, wanted } of cases) {
  test(name, () => assert.equal(want(service, policy, metros), wanted))
}

const mistakes = [
  {
    name: 'without any location the problem names both annotations and both settings',
    service: makeService(),
    problems: [
      'no location is set for the address: set annotation metal.equinix.com/eip-facility or ' +
        'metal.equinix.com/eip-metro on the Service, or METAL_FACILITY_NAME or METAL_METRO_NAME for the cluster',
    ],
  },
  {
    name: 'an unknown metro is refused with the nearest one and the list',
    service: makeService({ annotations: { 'metal.equinix.com/eip-metro': 'dallas' } }),
    problems: [
      'annotation metal.equinix.com/eip-metro: "dallas" is not a known metro; did you mean "da"? ' +
        'Known: da (Dallas), sv (Silicon Valley)',
    ],
  },
  {
    name: 'a typo in an annotation is refused with the right one',
    service: makeService({ annotations: { 'metal.equinix.com/eip-metr': 'da', 'metal.equinix.com/eip-metro': 'da' } }),
    problems: [
      'annotation metal.equinix.com/eip-metr (value "da") is unknown; did you mean metal.equinix.com/eip-metro?',
    ],
  },
  {
    name: 'all mistakes are reported at once',
    service: makeService({
      annotations: {
        'metal.equinix.com/eip-metr': 'da',
        'metal.equinix.com/eip-metro': 'xx',
        'eip-admission.dev/reclaim-policy': 'Keep',
      },
    }),
    problems: [
      'annotation metal.equinix.com/eip-metr (value "da") is unknown; did you mean metal.equinix.com/eip-metro?',
      'annotation eip-admission.dev/reclaim-policy: "Keep" is neither "Delete" nor "Retain"',
      'annotation metal.equinix.com/eip-metro: "xx" is not a known metro; ' + 'known: da (Dallas), sv (Silicon Valley)',
    ],
  },
  {
    name: 'a typo in the annotation that names an ElasticIP is refused with the right one',
    service: makeService({
      annotations: { 'metal.equinix.com/eip-metro': 'da', 'eip-admission.dev/elastic-pi': 'office' },
    }),
    problems: [
      'annotation eip-admission.dev/elastic-pi (value "office") is unknown; did you mean eip-admission.dev/elastic-ip?',
    ],
  },
  {
    name: 'annotations that allow only a few values say which',
    service: makeService({
      annotations: { 'metal.equinix.com/eip-metro': 'da', 'eip-admission.dev/protect': 'yes' },
    }),
    problems: ['annotation eip-admission.dev/protect: "yes" is neither "true" nor "false"'],
  },
  {
    name: 'what can be no name of an ElasticIP is refused',
    service: makeService({ annotations: { 'eip-admission.dev/elastic-ip': 'No Name' } }),
    problems: ['annotation eip-admission.dev/elastic-ip: "No Name" is not the name of an ElasticIP'],
  },
  {
    name: 'a loadBalancerIP that is no address is a mistake',
    service: makeService({ loadBalancerIP: '192.0.2' }),
    problems: ['spec.loadBalancerIP: "192.0.2" is not an IP address'],
  },
]

for (const { name, service, problems } of mistakes) {
  test(name, () => assert.equal(want(service, makePolicy({}), metros), { kind: 'wrong', problems }))
}

test("a location passes while the provider's locations are not known", () => {
  const service = makeService({ annotations: { 'metal.equinix.com/eip-metro': 'xx' } })
  assert.is(want(service, makePolicy({}), undefined).kind, 'reserve')
})

const here = makePolicy({ metro: 'da' })
const own = { loadBalancerIP: '2001:db8::7' }
const families: { name: string; service: Service; verdict: RegExp }[] = [
  { name: 'IPv4 alone', service: makeService({ ipFamilies: ['IPv4'] }), verdict: /"reserve".*"warnings":\[\]/ },
  { name: 'IPv6 alone', service: makeService({ ipFamilies: ['IPv6'] }), verdict: /"wrong".*spec.ipFamilies: .*IPv6/ },
  {
    name: 'IPv6 alone by name',
    service: makeService({ ipFamilies: ['IPv6'], annotations: { 'eip-admission.dev/elastic-ip': 'office' } }),
    verdict: /"wrong".*spec.ipFamilies/,
  },
  { name: 'a user-chosen IPv6 address', service: makeService({ ipFamilies: ['IPv6'], ...own }), verdict: /"own"/ },
  { name: 'both', service: makeService({ ipFamilyPolicy: 'RequireDualStack' }), verdict: /"wrong".*RequireDualStack/ },
]
for (const { name, service, verdict } of families) {
  test(`families: a Service that requests ${name}`, () =>
    assert.match(JSON.stringify(want(service, here, metros)), verdict))
}

test('a Service without a name is left to the API server, which refuses it', () => {
  assert.equal(want(makeService({ name: '' }), here, metros), { kind: 'ignored', reason: 'it has no name' })
})

const giving = makeRecord({ phase: 'Bound', address: '198.51.100.7' }, { claimRef: { ...claimRef, uid: 'uid-1' } })
const adopted = { claimRef, reservationID: 'res-1' }
const foreign = (...requested: string[]): Want => ({
  kind: 'foreign',
  reason: 'its class is other',
  requested: requested.map((address) => ({ address, where: 'spec.loadBalancerIP' })),
})
const kept: { name: string; record: ElasticIP; wanted: Want; isKept: boolean }[] = [
  { name: 'that we gave', record: giving, wanted: foreign(), isKept: false },
  { name: 'that it requests of the other program', record: giving, wanted: foreign('198.51.100.7'), isKept: true },
  {
    name: 'that an earlier program reserved',
    record: makeRecord({ phase: 'Reserved', address: '198.51.100.7' }, adopted),
    wanted: foreign(),
    isKept: true,
  },
]
for (const { name, record, wanted, isKept } of kept) {
  test(`a Service that another program serves ${isKept ? 'keeps' : 'loses'} the address ${name}`, () =>
    assert.is(isWanted(record, wanted), isKept))
}

test('the want of a Service is decided once for each object, and again after the locations are read', () => {
  const service = makeService({ annotations: { 'metal.equinix.com/eip-metro': 'xx' } })
  let known: typeof metros | undefined
  const wantOf = wantsByFields(makePolicy({}), () => known)
  const before = wantOf(service)
  assert.is(before.kind, 'reserve')
  assert.is(wantOf(service), before)
  assert.is.not(wantOf({ ...service }), before)
  known = metros
  assert.is(wantOf(service).kind, 'wrong')
})

test('the want of a Service is decided again when the settings name another location', () => {
  const service = makeService()
  const policy = makePolicy({})
  const wantOf = wantsByFields(policy, () => metros)
  assert.is(wantOf(service).kind, 'wrong')
  policy.locationSources = makePolicy({ metro: 'da' }).locationSources
  const wanted = wantOf(service)
  assert.is(wanted.kind === 'reserve' && wanted.location, 'da')
})

test.run()
