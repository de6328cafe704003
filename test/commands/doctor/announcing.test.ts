import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ConfigMap, KubeObject, Node, Service } from '../../../kube/objects.ts'
import type { Pod, Workload } from '../../../kube/workloads.ts'
import type { Definition } from '../../../kube/definitions.ts'
import { staticPods } from '../../../inspect/cluster.ts'
import type { AnnouncementState } from '../../../announcers/check.ts'
import type { Values } from '../../../inspect/facts.ts'
import { servedClasses, softwareCheck } from '../../../commands/doctor/checks/announcers.ts'
import {
  announcerConfiguration,
  loadBalancingOff,
  silentAnnouncer,
} from '../../../commands/doctor/checks/announcing.ts'
import { answeringNodes } from '../../../commands/doctor/checks/assigned.ts'
import { addressAnnotation, addressCondition } from '../../../ledger/record/names.ts'
import { makeRecord, makeService } from '../../builders.ts'
import { makeNode } from '../../announcers/states.ts'
import { judge, lines } from './context.ts'
import { remedyText } from '../../../lib/remedy.ts'

const announcedAddresses = softwareCheck('announced-addresses')
const calicoStatuses = softwareCheck('calico-statuses')
const ciliumSettings = softwareCheck('cilium-settings')
const excludedNodes = softwareCheck('excluded-nodes')
const kubeVip = softwareCheck('kube-vip')
const metallbClass = softwareCheck('metallb-class')
const metallbDefinitions = softwareCheck('metallb-definitions')
const metallbDocument = softwareCheck('metallb-document')
const metallbPrograms = softwareCheck('metallb-programs')
const metallbReports = softwareCheck('metallb-reports')
const overlappingPools = softwareCheck('overlapping-pools')
const speakers = softwareCheck('speakers')

const assigning = {
  flags: { '--cloud-provider': 'hetzner' },
  env: { HCLOUD_TOKEN: 't'.repeat(64), HCLOUD_LOAD_BALANCER: 'assign:///' },
}
const crds = { env: { METAL_LOAD_BALANCER: 'metallb:///m?crdConfiguration=true' } }
const object = (kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: 'metallb.io/v1beta1',
  kind,
  metadata: { name, namespace: 'm' },
  ...more,
})
const pool = (name: string, ...addresses: string[]) => object('IPAddressPool', name, { spec: { addresses } })

test('pools that share addresses, in every form of a range', () => {
  const of = (one: string, other: string) =>
    judge(overlappingPools, { document: undefined, metallb: [pool('a', one), pool('b', other)] }, crds)[0]?.level
  for (const [one, other, level] of [
    ['192.0.2.1/32', '192.0.2.2/32', 'ok'],
    ['192.0.2.1/32', '192.0.2.0/24', 'error'],
    ['192.0.2.0/24', '192.0.2.1/32', 'error'],
    ['192.0.2.128/24', '192.0.1.0-192.0.2.5', 'error'],
    ['192.0.2.1-192.0.2.9', '192.0.2.9-192.0.2.20', 'error'],
    ['192.0.2.1-192.0.2.9', '192.0.2.10-192.0.2.20', 'ok'],
    ['192.0.2.1-192.0.2.99', '192.0.2.10-192.0.2.20', 'error'],
    ['2001:db8::/64', '2001:db8::5/128', 'error'],
    ['::/0', '192.0.2.1/32', 'ok'],
    ['nonsense', '192.0.2.1/32', 'ok'],
  ] as const)
    assert.is(of(one, other), level, `${one} and ${other}`)
  assert.equal(judge(overlappingPools, { metallb: [] }), [], 'without MetalLB')
})

test('an address that no pool has, that nobody advertises, without peers', () => {
  const services = [makeService({ creationTimestamp: '2026-02-01T11:00:00Z' })]
  const records = [makeRecord({ phase: 'Bound', address: '192.0.2.1' })]
  const definitions: Definition[] = [
    { apiVersion: 'a', kind: 'CustomResourceDefinition', metadata: { name: 'bgppeers.metallb.io' } },
  ]
  const of = (...metallb: KubeObject[]) =>
    lines(announcedAddresses, { services, records, metallb, definitions, document: undefined }, crds)
  const peer = object('BGPPeer', 'p', { spec: { myASN: 1 } })
  const advertisement = (...ipAddressPools: string[]) => object('BGPAdvertisement', 'adv', { spec: { ipAddressPools } })
  const [web, other] = [pool('web', '192.0.2.1/32'), pool('other', '192.0.2.2/32')]
  assert.match(of(peer, web, advertisement('web'))[0] ?? '', /^ok/)
  assert.match(of(peer, web, advertisement())[0] ?? '', /^ok/)
  assert.match(of(web, advertisement('web'))[0] ?? '', /^error: MetalLB has no BGPPeer, and 1 address/)
  assert.match(of(peer, other, advertisement())[0] ?? '', /^error: address 192.0.2.1 of Service default\/web is in no/)
  assert.match(of(peer, web, advertisement('other'))[0] ?? '', /no BGPAdvertisement selects its pool web$/)
  const [pending] = services
  if (pending) pending.metadata.annotations = { 'metallb.io/address-pool': 'mailserver' }
  assert.match(
    of(peer, web, advertisement('web'))[0] ?? '',
    /^error: .*\/web is in IPAddressPool web, and annotation metallb.io.*: "mailserver" chooses/,
  )
  if (pending) pending.metadata.annotations = {}
  const empty = { env: { METAL_LOAD_BALANCER: 'empty://' } }
  assert.match(
    lines(silentAnnouncer, { services, records }, empty)[0] ?? '',
    /^warning: Service default\/web holds 192.0.2.1, but/,
  )
  assert.equal(lines(silentAnnouncer, { services, records }), [])
  const said = (type: string, reason: string, message: string): Service => {
    const condition = { type, status: 'False' as const, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' }
    return { ...(pending ?? makeService()), status: { conditions: [condition] } }
  }
  const why = (service: Service, loadBalancer: string) =>
    judge(silentAnnouncer, { services: [service], records }, { env: { METAL_LOAD_BALANCER: loadBalancer } })[0]?.why
  assert.is(
    why(said('cilium.io/IPAMRequestSatisfied', 'already_allocated', 'taken'), 'cilium:///'),
    'already_allocated: taken',
  )
  assert.is(why(said(addressCondition, 'NotAnnounced', 'its pool is refused'), 'metallb:///'), 'its pool is refused')
})

test('without a load balancer setting, Services show addresses that they hold', () => {
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
  const records = [makeRecord({ phase: 'Bound', address: '192.0.2.1' })]
  const of = (service: Service, given = {}) => lines(loadBalancingOff, { services: [service], records }, given)
  assert.equal(of(makeService({ status })), [
    'warning: doctor has no load balancer setting, but Services show addresses that they hold: 1, such as default/web',
  ])
  const taken = makeService({ status: { loadBalancer: { ingress: [{ ip: '198.51.100.1' }] } } })
  assert.match(of(taken)[0] ?? '', /^ok/)
  assert.match(
    of(makeService())[0] ?? '',
    /^warning: load balancing is off, and Services wait for an address: 1, such as/,
  )
  assert.match(of(makeService({ name: 'other', status }))[0] ?? '', /^ok/)
  assert.equal(of(makeService({ status }), crds), [])
})

const inConfigMap = { env: { METAL_LOAD_BALANCER: 'metallb:///m/c?crdConfiguration=false' } }
const documentOf = (config: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'm', name: 'c' },
  data: { config },
})
const poolText = (name: string, addresses: string, protocol = 'bgp') =>
  `- {name: ${name}, protocol: ${protocol}, addresses: [${addresses}], auto-assign: false}\n`
const peersText = 'peers:\n- {peer-address: 169.254.255.1, peer-asn: 65530, my-asn: 65000, password: s3cret}\n'

test('pools of a ConfigMap that share addresses', () => {
  const of = (...pools: string[]) =>
    lines(
      overlappingPools,
      { metallb: [], document: documentOf(`${peersText}address-pools:\n${pools.join('')}`) },
      inConfigMap,
    )
  assert.equal(of(poolText('default/web', '192.0.2.1/32'), poolText('b', '192.0.2.2/32')), [
    'ok: no two pools of MetalLB share addresses',
  ])
  assert.equal(of(poolText('default/web', '192.0.2.1/32'), poolText('b', '192.0.2.0-192.0.2.9')), [
    'error: pool "default/web" of ConfigMap m/c and pool "b" of ConfigMap m/c share addresses: 192.0.2.1/32 and 192.0.2.0-192.0.2.9',
  ])
})

test('an address of which a ConfigMap has no pool, one for layer 2, or no peers', () => {
  const services = [makeService({ creationTimestamp: '2026-02-01T11:00:00Z' })]
  const records = [makeRecord({ phase: 'Bound', address: '192.0.2.1' })]
  const of = (config: string | undefined, given = inConfigMap, definitions: Definition[] = []) =>
    lines(
      announcedAddresses,
      { services, records, metallb: [], definitions, document: config === undefined ? undefined : documentOf(config) },
      given,
    )
  const ok = ['ok: MetalLB is configured to announce every held address']
  const web = poolText('default/web', '192.0.2.1/32')
  assert.equal(of(`${peersText}address-pools:\n${web}`), ok)
  assert.equal(of(`${peersText}address-pools:\n${poolText('all', '192.0.2.0/24')}`), ok)
  assert.equal(of(`${peersText}address-pools:\n${poolText('b', '192.0.2.2/32')}`), [
    'error: address 192.0.2.1 of Service default/web is in no pool for BGP of ConfigMap m/c',
  ])
  assert.equal(of(`${peersText}address-pools:\n${poolText('b', '192.0.2.0/24', 'layer2')}`), [
    'error: address 192.0.2.1 of Service default/web is in pool "b" for layer2 of ConfigMap m/c',
  ])
  assert.equal(of(`address-pools:\n${web}`), [
    'error: MetalLB has no peers in ConfigMap m/c, and 1 address to announce',
  ])
  assert.equal(of(undefined), ok, 'that the ConfigMap is not there is a finding of another check')
  const either = { env: { METAL_LOAD_BALANCER: 'metallb:///m/c' } }
  assert.equal(of(`${peersText}address-pools:\n${web}`, either), ok)
})

test('a ConfigMap that MetalLB refuses, and whose findings never show a password', () => {
  const of = (config: string | undefined) =>
    judge(
      metallbDocument,
      { definitions: [], workloads: [], document: config === undefined ? undefined : documentOf(config) },
      inConfigMap,
    )
  const text = (config: string | undefined) => of(config).map(({ level, what }) => `${level}: ${what}`)
  const withPool = (pool: string) => text(`${peersText}address-pools:\n${pool}`)
  const right = 'where a network such as 192.0.2.1/32 or a range is right'
  for (const [found, wanted] of [
    [withPool(poolText('a', '192.0.2.1/32, 192.0.2.4-192.0.2.9, "2001:db8::1/128"')), 'ok: MetalLB can read'],
    [withPool(' []'), 'ok: MetalLB can read'],
    [text(''), 'ok: MetalLB can read'],
    [withPool(poolText('a', '192.0.2.1')), `error: ConfigMap m/c, config: pool a has "192.0.2.1", ${right}`],
    [withPool(poolText('a', '192.0.2.1/33')), `pool a has "192.0.2.1/33", ${right}`],
    [withPool(poolText('a', '192.0.2.1-2001:db8::1')), `pool a has "192.0.2.1-2001:db8::1", ${right}`],
    [withPool(poolText('a', '')), 'pool a has no addresses'],
    [withPool(poolText('a', '192.0.2.1/32', 'none')), 'pool a has no protocol, which must be bgp or layer2'],
    [withPool(poolText('a', '192.0.2.1/32') + poolText('a', '192.0.2.2/32')), 'two pools are named "a"'],
    [
      withPool('- {name: a, protocol: bgp, addresses: [192.0.2.1/32], Communities: []}\n'),
      'pool a has the key "Communities"',
    ],
    [text(`${peersText}adress-pools: []\n`), 'the document has the key "adress-pools", which MetalLB does not know'],
    [text(`${peersText}  password: [`), 'is not YAML'],
    [text(undefined), 'error: ConfigMap m/c does not exist'],
  ] as const) {
    assert.match(found.join('\n'), wanted)
    assert.not.match(found.join('\n'), 's3cret')
  }
})

test('a ConfigMap is missing only where the MetalLB that would read it runs', () => {
  const of = (namespace: string) => {
    const container = { name: 'controller', image: 'quay.io/metallb/controller:v0.12.1' }
    const workload = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'controller', namespace },
      spec: { template: { spec: { containers: [container] } } },
    }
    return judge(metallbDocument, { definitions: [], workloads: [workload], document: undefined }, inConfigMap)
  }
  assert.match(of('m')[0]?.what ?? '', 'ConfigMap m/c does not exist')
  assert.is(of('elsewhere')[0]?.level, 'ok')
})

test('an address that no speaker announces, where MetalLB writes that down', () => {
  const services = [makeService({ creationTimestamp: '2026-02-01T11:00:00Z' })]
  const records = [makeRecord({ phase: 'Bound', address: '192.0.2.1' })]
  const definition: Definition = {
    apiVersion: 'a',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'servicebgpstatuses.metallb.io' },
  }
  const state = (serviceName: string, peers: string[]): AnnouncementState => ({
    ...object('ServiceBGPStatus', 'bgp-x'),
    status: { node: 'a', serviceName, serviceNamespace: 'default', peers },
  })
  const of = (announcements: AnnouncementState[], definitions = [definition]) =>
    lines(speakers, { announcements, definitions, services, records }, crds)[0]
  assert.match(of([state('web', ['a-0'])]) ?? '', /^ok/)
  assert.match(of([], []) ?? '', /^manual: this version of MetalLB does not report/)
  assert.match(lines(metallbReports, { metallb: [] }, crds)[0] ?? '', /^manual: MetalLB does not report/)
  const silent = 'warning: no speaker of MetalLB announces 192.0.2.1 of Service default/web'
  assert.equal([of([]), of([state('web', [])]), of([state('other', ['a-0'])])], [silent, silent, silent])
})

test('every node that runs a speaker is kept from announcing by its label', () => {
  const exclude = 'node.kubernetes.io/exclude-from-external-load-balancers'
  const node = (name: string, labels: Record<string, string> = {}): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: {},
  })
  const excluded = node('one', { [exclude]: 'false' })
  const speaker = (image: string, args: string[] = [], nodeSelector = {}): Workload => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'm', name: 'speaker' },
    spec: { template: { spec: { nodeSelector, containers: [{ image, args }] } } },
  })
  const of = (workload: Workload, ...nodes: Node[]) =>
    judge(excludedNodes, { workloads: [workload], nodes }, crds).map(({ level, what }) => `${level}: ${what}`)
  const image = 'quay.io/metallb/speaker:v0.14.9'
  const found = [`error: every node of DaemonSet m/speaker has the label ${exclude}`]
  const good = ['ok: MetalLB may announce from at least one node, or has no speakers that heed the label']
  const edge = node('two', { edge: 'yes', [exclude]: '' })
  for (const [workload, nodes, expected] of [
    [speaker(image), [excluded], found],
    [speaker(image), [excluded, node('two')], good],
    [speaker(image), [], good],
    [speaker(image, ['--port=7472', '--ignore-exclude-lb']), [excluded], good],
    [speaker(image, ['--ignore-exclude-lb=true']), [excluded], good],
    [speaker(image, ['--ignore-exclude-lb=false']), [excluded], found],
    [speaker(image, [], { edge: 'yes' }), [node('one'), edge], found],
    [speaker('quay.io/metallb/speaker:v0.13.12'), [excluded], good],
    [speaker('quay.io/metallb/speaker@sha256:12'), [excluded], found],
    [speaker('quay.io/metallb/controller:v0.14.9'), [excluded], good],
  ] as const)
    assert.equal(of(workload, ...nodes), expected, JSON.stringify(workload.spec))
  const [{ fix } = {}] = judge(excludedNodes, { workloads: [speaker(image)], nodes: [excluded] }, crds)
  assert.match(remedyText(fix ?? ''), `kubectl label nodes -l ${exclude} ${exclude}-   # or`)
})

test('what MetalLB reports about its configuration', () => {
  const state = (result: string) =>
    object('ConfigurationState', 's', { status: { result, errorSummary: 'pools overlap' } })
  const of = (result: string) => lines(metallbReports, { metallb: [state(result)] }, crds)[0] ?? ''
  assert.match(of('Valid'), /^ok/)
  assert.is(of('Invalid'), 'error: ConfigurationState m/s: pools overlap')
})

test('definitions whose objects an API server from 1.36 on refuses', () => {
  const definition = (format: string): Definition => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'bgppeers.metallb.io' },
    spec: {
      versions: [
        {
          name: 'v1beta2',
          served: true,
          schema: {
            openAPIV3Schema: {
              properties: { spec: { properties: { peerASN: { format, maximum: 4294967295 }, localPref: { format } } } },
            },
          },
        },
      ],
    },
  })
  const of = (minor: number, format: string) =>
    lines(metallbDefinitions, {
      definitions: [definition(format)],
      server: { version: `v1.${minor}.0`, major: 1, minor, clockAheadMs: 0 },
    })[0] ?? ''
  assert.is(
    of(36, 'int32'),
    'error: CustomResourceDefinition bgppeers.metallb.io: v1beta2 spec.peerASN has format int32 and a maximum beyond it',
  )
  assert.match(of(35, 'int32'), /^ok/)
  assert.match(of(36, 'int64'), /^ok/)
})

const daemonSet = (image: string, env: Record<string, string> = {}, numberReady = 2): Workload => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'd', namespace: 'm' },
  spec: {
    template: { spec: { containers: [{ image, env: Object.entries(env).map(([name, value]) => ({ name, value })) }] } },
  },
  status: { desiredNumberScheduled: 2, numberReady },
})

test('MetalLB that does not run, is not ready, or reads another configuration', () => {
  const known: Definition[] = [
    { apiVersion: 'a', kind: 'CustomResourceDefinition', metadata: { name: 'ipaddresspools.metallb.io' } },
  ]
  const of = (workloads: Workload[], given = crds, definitions: Definition[] = []) =>
    lines(metallbPrograms, { workloads, definitions }, given)[0] ?? ''
  assert.match(of([daemonSet('quay.io/metallb/speaker:v0.16.1')]), /^ok/)
  assert.match(of([]), /^error: no Deployment or DaemonSet runs an image of MetalLB/)
  assert.match(of([daemonSet('quay.io/metallb/speaker:v0.16.1', {}, 0)]), /has 0 of 2 pods ready$/)
  assert.match(of([daemonSet('quay.io/metallb/speaker:v0.12.1')]), /which reads a ConfigMap only$/)
  const digest = `quay.io/metallb/speaker@sha256:${'0'.repeat(64)}`
  assert.match(of([daemonSet(digest)]), /^warning: DaemonSet m\/d runs \S+, which seems to read a ConfigMap only$/)
  assert.match(of([daemonSet(digest)], crds, known), /^ok/)
  assert.match(of([daemonSet(digest)], { env: { METAL_LOAD_BALANCER: 'metallb:///m' } }), /^ok/)
  assert.is(
    of([daemonSet('quay.io/metallb/speaker:v0.16.1')], { env: { METAL_LOAD_BALANCER: 'metallb:///other' } }),
    'error: MetalLB runs in namespace m, and the load balancer setting names other',
  )
  const document = { env: { METAL_LOAD_BALANCER: 'metallb:///m/config?crdConfiguration=false' } }
  assert.match(of([daemonSet('quay.io/metallb/speaker:v0.16.1')], document), /which reads custom resources only$/)
})

test('MetalLB that announces other classes than eip-admission serves', () => {
  const withArgs = (...args: string[]): Workload => {
    const { spec, ...rest } = daemonSet('quay.io/metallb/speaker:v0.16.1')
    const containers = (spec?.template?.spec?.containers ?? []).map((one) => ({ ...one, args }))
    return { ...rest, spec: { ...spec, template: { spec: { containers } } } }
  }
  const serving = (classes: string) => ({ ...crds, flags: { '--load-balancer-class': classes } })
  const of = (workload: Workload, given = serving('')) => lines(metallbClass, { workloads: [workload] }, given)[0] ?? ''
  assert.match(of(withArgs('--port=7472')), /^ok/)
  assert.match(of(withArgs('--lb-class=x.io/y'), serving('x.io/y')), /^ok/)
  assert.match(of(withArgs('--lb-class', 'x.io/y'), serving('x.io/y')), /^ok/)
  assert.is(
    of(withArgs('--lb-class=x.io/y')),
    'error: DaemonSet m/d announces Services of the class x.io/y, and not Services without a class',
  )
  assert.is(
    of(withArgs(), serving('none,x.io/y')),
    'error: DaemonSet m/d announces Services without a class, and not Services of the class x.io/y',
  )
})

test('software that announces only some classes', () => {
  const of = (setting: string, classes: string) =>
    lines(servedClasses, {}, { env: { METAL_LOAD_BALANCER: setting }, flags: { '--load-balancer-class': classes } })
  assert.match(of('cilium:///', 'none,io.cilium/bgp-control-plane')[0] ?? '', /^ok/)
  assert.equal(of('cilium:///', 'none,x.io/y'), ['error: cilium announces no Services of the class x.io/y'])
  assert.equal(
    of('cilium:///', 'io.cilium/l2-announcer'),
    ['error: cilium announces no Services of the class io.cilium/l2-announcer'],
    'LB IPAM gives such a Service an address, and BGP does not announce it',
  )
  assert.match(of('kube-vip://', 'kube-vip.io/kube-vip-class')[0] ?? '', /^ok/)
  assert.equal(of('kube-vip://', 'x.io/y'), ['error: kube-vip announces no Services of the class x.io/y'])
  assert.equal(of('metallb:///', 'x.io/y'), [], 'a flag of MetalLB decides')
})

test('before Calico is chosen, and before any Service has an address: who else writes the status', () => {
  const spec = { allowedUses: ['LoadBalancer'] }
  const pool = { apiVersion: 'projectcalico.org/v3', kind: 'IPPool', metadata: { name: 'lb' }, spec }
  const of = (classes: string, existing: KubeObject[] = [pool]) =>
    judge(
      calicoStatuses,
      { announcer: { existing, reports: [], unknown: [] } },
      { env: { METAL_LOAD_BALANCER: 'calico:///' }, flags: { '--load-balancer-class': classes } },
    ).map(({ level, what, fix }) => `${level}: ${what}: ${remedyText(fix ?? '')}`)
  assert.match(of('none', [])[0] ?? '', /^ok/)
  assert.match(of('x.io/y')[0] ?? '', /^ok/)
  assert.equal(of('none,calico,x.io/y'), [
    'error: IPPool lb is for load balancers, so Calico writes the status of Services without a class and Services of the class calico: kubectl delete ippools.projectcalico.org lb   # or set --load-balancer-class of `serve` and `install` to other classes',
  ])
})

test('Cilium without its BGP or its LB IPAM', () => {
  const right = { 'enable-bgp-control-plane': 'true', 'enable-lb-ipam': 'true', 'default-lb-service-ipam': 'lbipam' }
  const of = (data: Record<string, string> | undefined, classes = 'none') => {
    const metadata = { namespace: 'cilium', name: 'cilium-config' }
    const ciliumConfigs: ConfigMap[] = data ? [{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }] : []
    const flags = { '--load-balancer-class': classes }
    return lines(
      ciliumSettings,
      { ciliumConfigs, workloads: [] },
      { env: { METAL_LOAD_BALANCER: 'cilium:///' }, flags },
    )
  }
  const where = 'error: ConfigMap cilium/cilium-config has'
  const { 'enable-bgp-control-plane': _bgp, ...without } = right
  assert.match(of(right)[0] ?? '', /^ok/)
  assert.match(of({ 'enable-bgp-control-plane': 'true' })[0] ?? '', /^ok/, 'the others are so by default')
  assert.equal(of(without), [`${where} no enable-bgp-control-plane`])
  assert.equal(of({ ...right, 'enable-lb-ipam': 'false' }), [`${where} enable-lb-ipam=false`])
  const nodes = { ...right, 'default-lb-service-ipam': 'nodeipam' }
  assert.equal(of(nodes), [`${where} default-lb-service-ipam=nodeipam`])
  assert.match(of(nodes, 'io.cilium/bgp-control-plane')[0] ?? '', /^ok/, 'it is for Services without a class')
  assert.match(of(undefined)[0] ?? '', /^ok/, 'it was not installed by its chart')
})

test('a setting of Cilium is changed in the version that runs, and nothing restarts where that fails', () => {
  const metadata = { namespace: 'cilium', name: 'cilium-config' }
  const ciliumConfigs: ConfigMap[] = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} }]
  const agents = (namespace: string, ...images: string[]): Workload => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace, name: 'cilium' },
    spec: { template: { spec: { containers: images.map((image) => ({ image })) } } },
  })
  const fixOf = (...workloads: Workload[]) =>
    remedyText(
      judge(ciliumSettings, { ciliumConfigs, workloads }, { env: { METAL_LOAD_BALANCER: 'cilium:///' } })[0]?.fix ?? '',
    )
  const command = (version: string) =>
    `helm upgrade cilium cilium/cilium -n cilium --version ${version} --reuse-values --set bgpControlPlane.enabled=true && kubectl rollout restart -n cilium daemonset/cilium deployment/cilium-operator`
  const envoy = 'quay.io/cilium/cilium-envoy:v1.34.4-1754895458@sha256:ab'
  assert.is(fixOf(agents('cilium', envoy, 'quay.io/cilium/cilium:v1.18.1@sha256:ab')), command('1.18.1'))
  assert.is(fixOf(agents('cilium', 'registry.test:5000/cilium:1.19.0-rc.1')), command('1.19.0-rc.1'))
  const unknown = `${command('VERSION')}   # VERSION is that of: \`helm list -n cilium\``
  assert.is(fixOf(), unknown)
  assert.is(fixOf(agents('other', 'quay.io/cilium/cilium:v1.18.1')), unknown)
  assert.is(fixOf(agents('cilium', 'quay.io/cilium/cilium@sha256:ab')), unknown)
})

test('what is in the way of Cilium, by its objects and by its reports', () => {
  const given = { env: { METAL_LOAD_BALANCER: 'cilium:///' } }
  const services = [
    makeService({
      creationTimestamp: '2026-02-01T11:00:00Z',
      annotations: { [addressAnnotation]: '192.0.2.1' },
      loadBalancerIP: '192.0.2.1',
    }),
  ]
  const records = [makeRecord({ phase: 'Bound', address: '192.0.2.1' })]
  const cilium = (kind: string, name: string, more: object): KubeObject => ({
    apiVersion: 'cilium.io/v2',
    kind,
    metadata: { name, labels: name.startsWith('eip-') ? { 'app.kubernetes.io/managed-by': 'eip-admission' } : {} },
    ...more,
  })
  const of = (announcer: Partial<Values['announcer']>) =>
    lines(
      announcerConfiguration,
      {
        announcer: { existing: [], reports: [], unknown: [], ...announcer },
        services,
        records,
        nodes: [],
        peers: new Map(),
        definitions: [],
      },
      given,
    )
  assert.match(of({})[0] ?? '', /^ok/)
  assert.equal(of({ unknown: ['CiliumLoadBalancerIPPool'] }), [
    'error: the cluster does not know CiliumLoadBalancerIPPool',
  ])
  const wide = cilium('CiliumLoadBalancerIPPool', 'wide', { spec: { blocks: [{ cidr: '192.0.2.0/24' }] } })
  assert.match(of({ existing: [wide] })[0] ?? '', /^error: Service default\/web: .* Remove 192.0.2.1 from .* wide$/)
  const conditions = [{ type: 'cilium.io/PoolConflict', status: 'True', message: '' }]
  const conflicting = cilium('CiliumLoadBalancerIPPool', 'eip-admission-192.0.2.1', { status: { conditions } })
  assert.match(of({ reports: [conflicting] })[0] ?? '', /^error: Service default\/web: Cilium does not use the pool/)
})

test('a node from which Calico speaks by another address than its router expects', () => {
  const of = (nodeAddress: string) => {
    const [peer] = makeNode('a').peers
    if (!peer) throw new Error('the node has a peer')
    const metadata = {
      name: 'a',
      labels: { 'kubernetes.io/hostname': 'a' },
      annotations: { 'projectcalico.org/IPv4Address': nodeAddress },
    }
    const providerID = 'equinixmetal://11111111-1111-1111-1111-111111111111'
    return lines(
      announcerConfiguration,
      {
        announcer: { existing: [], reports: [], unknown: [] },
        services: [makeService({ annotations: { [addressAnnotation]: '192.0.2.1' }, loadBalancerIP: '192.0.2.1' })],
        records: [makeRecord({ phase: 'Bound', address: '192.0.2.1' })],
        nodes: [{ apiVersion: 'v1', kind: 'Node', metadata, spec: { providerID } }],
        peers: new Map([['11111111-1111-1111-1111-111111111111', [peer]]]),
        definitions: [],
      },
      { env: { METAL_LOAD_BALANCER: 'calico:///' } },
    )[0]
  }
  assert.match(of('10.0.0.5/24') ?? '', /^ok/)
  assert.match(of('192.0.2.9/24') ?? '', /^error: node a: router .* expects the BGP session from 10.0.0.5/)
})

test('the settings of kube-vip', () => {
  const given = { env: { METAL_LOAD_BALANCER: 'kube-vip://' } }
  const of = (...workloads: Workload[]) => lines(kubeVip, { workloads }, given)
  const env = { svc_enable: 'true', bgp_enable: 'true', annotation: 'metal.equinix.com' }
  const image = 'ghcr.io/kube-vip/kube-vip'
  assert.match(of(daemonSet(`${image}:v1.2.3`, env))[0] ?? '', /^ok/)
  assert.match(of(daemonSet(`${image}:v0.8.10`, env))[0] ?? '', /^ok/)
  assert.match(of(daemonSet(`${image}:v1.1.2`, env))[0] ?? '', /^error: DaemonSet m\/d runs/)
  assert.equal(of(daemonSet(`${image}:v1.2.3`, { ...env, bgp_enable: 'false' })), [
    'warning: DaemonSet m/d: bgp_enable is "false"',
  ])
  assert.match(of()[0] ?? '', /^error: no DaemonSet/)
  const mirror = (version: string, more: Record<string, string> = env): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'kube-system',
      name: 'kube-vip-node-a',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'u' }],
    },
    spec: {
      containers: [
        { image: `${image}:${version}`, env: Object.entries(more).map(([name, value]) => ({ name, value })) },
      ],
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  })
  assert.match(of(...staticPods([mirror('v1.2.3')]))[0] ?? '', /^ok/)
  assert.match(
    of(...staticPods([{ ...mirror('v1.2.3'), status: {} }]))[0] ?? '',
    /^error: Pod .* has 0 of 1 pods ready/,
  )
  const [old] = judge(kubeVip, { workloads: staticPods([mirror('v1.1.2')]) }, given)
  assert.match(
    remedyText(old?.fix ?? ''),
    /^set its image to .*:v1\.2\.3 or later in the manifest of kube-vip-node-a on node-a/,
  )
  const ofReplicaSet = { ...mirror('v1.2.3').metadata, ownerReferences: [] }
  assert.match(of(...staticPods([{ ...mirror('v1.2.3'), metadata: ofReplicaSet }]))[0] ?? '', /^error: no DaemonSet/)
})

for (const [name, data, expected] of [
  ['strictARP', { 'config.conf': 'mode: ipvs\nipvs:\n  strictARP: true\n' }, 'warning'],
  ['no strictARP', { 'config.conf': 'mode: ipvs\nipvs:\n  strictARP: false\n' }, 'ok'],
  ['no ConfigMap', undefined, 'manual'],
] as const)
  test(`nodes that answer for assigned addresses: kube-proxy with ${name}`, () => {
    const metadata = { namespace: 'kube-system', name: 'kube-proxy' }
    const kubeProxyConfig: ConfigMap | undefined = data && { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
    assert.is(judge(answeringNodes, { kubeProxyConfig }, assigning)[0]?.level, expected)
  })

test.run()
