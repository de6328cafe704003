// The names that predecessors wrote to the cloud and the cluster, for each dialect.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { wantedAnnotations } from '../../controllers/peering/node-annotations.ts'
import { formatProviderId, readProviderId } from '../../controllers/nodes/provider-id.ts'
import { serviceMarks } from '../../ledger/record/marks.ts'
import { want } from '../../ledger/want/want.ts'
import { dialects } from '../../clouds/dialects.ts'
import type { CloudProvider } from '../../clouds/ports/cloud-provider.ts'
import { serveSettings } from '../../commands/settings/serve.ts'
import { makeService } from '../builders.ts'
import { silentLog } from '../fakes/log.ts'

const accounts: Record<string, Record<string, string>> = {
  equinixmetal: { METAL_API_KEY: 'k', METAL_PROJECT_ID: 'p', METAL_LOAD_BALANCER: 'kube-vip://' },
  packet: { PACKET_API_KEY: 'k', PACKET_PROJECT_ID: 'p', PACKET_FACILITY_NAME: 'da11' },
  scaleway: { SCW_SECRET_KEY: 'k', SCW_DEFAULT_PROJECT_ID: 'p', SCW_DEFAULT_ZONE: 'fr-par-1' },
  cherryservers: { CHERRY_API_KEY: 'k', CHERRY_PROJECT_ID: '7', CHERRY_LOAD_BALANCER: 'kube-vip://' },
}

async function providerOf(provider: string, env: Record<string, string> = {}): Promise<CloudProvider> {
  const { cloud } = serveSettings({
    flags: { '--cloud-provider': provider },
    env: { ...accounts[provider], ...env },
  })
  const { signal } = new AbortController()
  return cloud.dialect.makeProvider(cloud.settings, {
    userAgent: 'test',
    proxy: {},
    observe: () => {},
    log: silentLog,
    signal,
    reserves: true,
  })
}

test('scaleway: another zone is another project, as no address of this one is listed there', async () => {
  const ids = await Promise.all(
    ['fr-par-1', 'fr-par-2'].map(async (zone) => (await providerOf('scaleway', { SCW_DEFAULT_ZONE: zone })).project),
  )
  assert.equal(
    ids.map(({ id, formerId }) => [id, formerId]),
    [
      ['p/fr-par-1', 'p'],
      ['p/fr-par-2', 'p'],
    ],
  )
  for (const place of ['SCW_DEFAULT_PROJECT_ID', 'SCW_DEFAULT_ZONE']) assert.match(ids[0]?.setting ?? '', place)
})

const closed = dialects.flatMap(({ providers: [provider = ''], annotations }) =>
  annotations.flatMap(({ name, on, values }) =>
    on === 'Service' && typeof values !== 'string' ? [{ provider, name, values }] : [],
  ),
)
for (const { provider, name, values } of closed) {
  test(`${provider}: annotation ${name} has one of its values, or the Service is refused`, async () => {
    const { policy } = await providerOf(provider)
    const problems = (value: string) => {
      const wanted = want(makeService({ annotations: { [name]: value } }), policy, undefined)
      return wanted.kind === 'wrong' ? wanted.problems.filter((problem) => problem.includes(name)) : []
    }
    assert.equal(
      [...values, 'another'].map((value) => problems(value).length),
      [...values.map(() => 0), 1],
    )
  })
}

const uuid = '3d1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711'
const ofSlash = 'grOt6dAM0WQqTUIOZw1s2Y60hJou4P9m1mieZFyOsz8='
const ofDot = 'grOt6dAM0WQqTUIOZw1s2Y60hJou4P9m1mieZFyOsz8='
const counting = (domain: string) => `nomatch.${domain}`

const promised = [
  {
    provider: 'equinixmetal',
    marks: { usage: 'cloud-provider-equinix-metal-auto', service: ofSlash, cluster: 'c' },
    written: `equinixmetal://${uuid}`,
    read: [`equinixmetal://${uuid}`, `packet://${uuid}`, uuid],
    foreign: [`cherryservers://7`, '7', 'aws://x'],
    controlPlane: 'kube-system/cloud-provider-equinix-metal-kubernetes-external',
    counting: counting('metal.equinix.com'),
    advertisement: 'equinix-metal-bgp-adv',
  },
  {
    provider: 'packet',
    marks: { usage: 'packet-ccm-auto', service: ofDot, cluster: 'c' },
    written: `packet://${uuid}`,
    read: [`packet://${uuid}`, `equinixmetal://${uuid}`, uuid],
    foreign: ['cherryservers://7', '7'],
    controlPlane: 'kube-system/packet-ccm-kubernetes-external',
    counting: counting('packet.com'),
    advertisement: 'packet-bgp-adv',
  },
  {
    provider: 'cherryservers',
    marks: { usage: 'cloud-provider-cherry-auto', service: ofSlash, cluster: 'c' },
    written: 'cherryservers://640117',
    read: ['cherryservers://640117', '640117'],
    foreign: [`equinixmetal://${uuid}`, uuid],
    controlPlane: 'kube-system/cloud-provider-cherry-kubernetes-external',
    counting: counting('cherryservers.com'),
    // The predecessor's mistake: its clusters have an object of this name.
    advertisement: 'equinix-metal-bgp-adv',
  },
]

for (const { provider, marks, written, read, foreign, controlPlane, ...announcer } of promised) {
  test(`${provider}: tags, providerIDs and names are those of the predecessor`, async () => {
    const { policy, providerIds, announcerMarks, ...parts } = await providerOf(provider)
    assert.equal(serviceMarks({ ...parts.marks, cluster: 'c' }, 'default/web'), marks)
    const id = written.split('://')[1] ?? ''
    assert.is(formatProviderId(id, providerIds), written)
    for (const said of read) assert.equal(readProviderId(said, providerIds), { kind: 'machine', id })
    for (const said of foreign) assert.is(readProviderId(said, providerIds).kind, 'foreign')
    assert.is(policy.controlPlaneService, controlPlane)
    assert.equal({ counting: announcerMarks.counting, advertisement: announcerMarks.advertisement }, announcer)
  })
}

const secret = { reveal: () => 'Secret-12/345' }
const peer = { localAsn: 65_000, peerAsn: 65_530, sourceAddress: '10.66.1.3', isMultihop: true, password: secret }
const peers = ['169.254.255.1', '169.254.255.2'].map((peerAddress) => ({ ...peer, peerAddress }))
const fact = { node: 'n', hostname: 'n', machine: 'm', privateNetwork: '10.66.1.0/25', peers }

const annotated: [provider: string, annotations: Record<string, string>][] = [
  [
    'packet',
    {
      'packet.com/node.asn': '65000',
      'packet.com/peer.asns': '65530',
      'packet.com/peer.ips': '169.254.255.1,169.254.255.2',
    },
  ],
  [
    'cherryservers',
    {
      ...Object.fromEntries(
        peers.flatMap(({ peerAddress }, n) => [
          [`cherryservers.com/bgp-peers-${n}-node-asn`, '65000'],
          [`cherryservers.com/bgp-peers-${n}-peer-asn`, '65530'],
          [`cherryservers.com/bgp-peers-${n}-peer-ip`, peerAddress],
          [`cherryservers.com/bgp-peers-${n}-src-ip`, '10.66.1.3'],
          [`cherryservers.com/bgp-peers-${n}-peer-multi-hop`, 'true'],
        ]),
      ),
      'cherryservers.com/network-4-private': '10.66.1.0/25',
    },
  ],
]
for (const [provider, annotations] of annotated) {
  test(`${provider}: a node has the annotations of the predecessor, without a password`, async () => {
    const { bgp } = await providerOf(provider)
    assert.equal(wantedAnnotations(fact, bgp.annotations), annotations)
  })
}

test('a peer that is one hop away has no annotation for it', async () => {
  const { bgp } = await providerOf('cherryservers')
  const near = { ...fact, peers: peers.map((one) => ({ ...one, isMultihop: false })) }
  assert.not.match(Object.keys(wantedAnnotations(near, bgp.annotations)).join(), 'multi-hop')
})

test('Packet: MetalLB is configured by its ConfigMap; without load balancing the metadata service is not read', async () => {
  assert.is((await providerOf('packet')).loadBalancer.kind, 'metallb-configmap')
  const off = await providerOf('packet', {
    PACKET_DISABLE_LB: 'true',
    PACKET_FACILITY_NAME: '',
    EIP_METADATA_URL: 'http://127.0.0.1:1',
  })
  assert.equal([off.loadBalancer.kind, off.policy.loadBalancing], ['none', false])
  assert.ok(off.bgp.isOn, 'BGP and the node annotations stay on')
})

const managed = 'cherryservers.com/loadbalancer-managed'
const here = { CHERRY_REGION_NAME: 'LT-Siauliai' }
const managements: [value: string, kind: string][] = [
  ['false', 'nothing'],
  ['true', 'reserve'],
  ['False', 'wrong'],
]
for (const [value, kind] of managements) {
  test(`Cherry: a Service with ${managed}: "${value}"`, async () => {
    const { policy } = await providerOf('cherryservers', here)
    assert.is(want(makeService({ annotations: { [managed]: value } }), policy, undefined).kind, kind)
  })
}

test('Cherry: an annotation of the predecessor is accepted, a typo is refused', async () => {
  const { policy } = await providerOf('cherryservers', here)
  const wanted = (name: string) => want(makeService({ annotations: { [name]: '203.0.113.4' } }), policy, undefined).kind
  assert.is(wanted('cherryservers.com/loadBalancerIPs'), 'reserve')
  assert.is(wanted('cherryservers.com/loadbalancer-manged'), 'wrong')
})

test('a Service may request a user-chosen address by the annotation of empty://, whatever its name', async () => {
  const name = 'cherryservers.com/my-address'
  const { policy } = await providerOf('cherryservers', {
    ...here,
    CHERRY_LOAD_BALANCER: `empty://?ip-annotation=${name}`,
  })
  const wanted = want(makeService({ annotations: { [name]: '203.0.113.4' } }), policy, undefined)
  assert.equal(wanted, { kind: 'own', address: '203.0.113.4', where: `annotation ${name}` })
})

const asked: [loadBalancer: string, annotations: string[]][] = [
  ['metallb:///', ['metallb.io/loadBalancerIPs', 'metallb.universe.tf/loadBalancerIPs']],
  ['metallb:///metallb-system/config', ['metallb.io/loadBalancerIPs', 'metallb.universe.tf/loadBalancerIPs']],
  ['kube-vip://', ['kube-vip.io/loadbalancerIPs']],
  ['empty://', ['cherryservers.com/loadBalancerIPs']],
  ['none', []],
]
for (const [loadBalancer, annotations] of asked) {
  test(`with ${loadBalancer} a Service may request its address by ${annotations.join(' and ') || 'no annotation'}`, async () => {
    const { policy } = await providerOf('cherryservers', { ...here, CHERRY_LOAD_BALANCER: loadBalancer })
    assert.equal(policy.requestAnnotations.annotations, annotations)
  })
}

const order: [wins: string, location: string][] = [
  ['false', 'LT-Siauliai'],
  ['true', 'NL-Amsterdam'],
]
for (const [wins, location] of order) {
  test(`Cherry: --service-location-wins=${wins} and two regions`, async () => {
    const { policy } = await providerOf('cherryservers', { ...here, EIP_SERVICE_LOCATION_WINS: wins })
    const wanted = want(
      makeService({ annotations: { 'cherryservers.com/fip-region': 'NL-Amsterdam' } }),
      policy,
      undefined,
    )
    assert.is(wanted.kind === 'reserve' && wanted.location, location)
  })
}

const controlPlanes: [provider: string, env: Record<string, string>, controlPlane: CloudProvider['controlPlane']][] = [
  ['equinixmetal', {}, undefined],
  ['equinixmetal', { METAL_API_SERVER_PORT: '443' }, undefined],
  ['equinixmetal', { METAL_EIP_TAG: 'cp' }, { tag: 'cp', byHostAddress: false }],
  [
    'equinixmetal',
    { METAL_EIP_TAG: 'cp', METAL_API_SERVER_PORT: '443' },
    { tag: 'cp', port: 443, byHostAddress: false },
  ],
  [
    'equinixmetal',
    { METAL_EIP_TAG: 'cp', METAL_EIP_HEALTH_CHECK_USE_HOST_IP: 'true' },
    { tag: 'cp', byHostAddress: true },
  ],
  ['packet', { PACKET_EIP_TAG: 'cp' }, { tag: 'cp', byHostAddress: false }],
  ['cherryservers', { CHERRY_FIP_TAG: 'k8s=cp' }, { tag: 'k8s=cp', byHostAddress: false }],
  [
    'cherryservers',
    { CHERRY_FIP_TAG: 'k8s=cp', CHERRY_API_SERVER_PORT: '443', CHERRY_FIP_HEALTH_CHECK_USE_HOST_IP: 'true' },
    { tag: 'k8s=cp', port: 443, byHostAddress: true },
  ],
]
for (const [provider, env, controlPlane] of controlPlanes) {
  test(`${provider}: the control-plane address by ${Object.keys(env).join() || 'no setting'}`, async () => {
    const { controlPlane: found, assignments, unsupported } = await providerOf(provider, env)
    assert.equal(found, controlPlane)
    assert.ok(assignments)
    assert.equal(unsupported, [])
  })
}

test('the default name of a renamed location annotation is no mistake, and has no effect', async () => {
  const { policy } = await providerOf('equinixmetal', { METAL_ANNOTATION_EIP_METRO: 'example.com/metro' })
  assert.ok(policy.annotations.known.includes('metal.equinix.com/eip-metro'))
  assert.not(policy.locationSources.some(({ name }) => name === 'metal.equinix.com/eip-metro'))
})

test('Equinix Metal: managed balancers are chosen by the setting, and released under every other', async () => {
  const chosen = await providerOf('equinixmetal', { METAL_LOAD_BALANCER: 'emlb:///NY' })
  assert.equal([chosen.policy.managed?.location, chosen.bgp.isOn], ['ny', false])
  assert.is(want(makeService(), chosen.policy, undefined).kind, 'managed')
  const other = await providerOf('equinixmetal')
  assert.is(other.policy.managed, undefined)
  assert.ok(other.managedBalancers)
})

test('Equinix Metal: a balancer of the predecessor is known by its name of 137 characters', async () => {
  const { managedBalancers, marks } = await providerOf('equinixmetal')
  const name = managedBalancers?.formerName(serviceMarks({ ...marks, cluster: uuid }, 'default/web'))
  assert.is(name, `usage=cloud-provider-equinix-metal-auto:service=${ofSlash}:cluster=${uuid}`)
  assert.is(name?.length, 137)
  assert.equal(
    ['ny', 'da', 'da11', 'region-one'].map((region) => managedBalancers?.isElsewhere(region, 'da')),
    [true, false, false, false],
  )
})

test('Equinix Metal: the balancer of the control plane counts with managed balancers alone', async () => {
  const id = { METAL_LOAD_BALANCER_ID: 'loadbal-1', METAL_API_SERVER_PORT: '443' }
  const chosen = await providerOf('equinixmetal', { ...id, METAL_LOAD_BALANCER: 'emlb:///da' })
  assert.equal([chosen.controlPlaneBalancer, chosen.unsupported], [{ id: 'loadbal-1', port: 443 }, []])
  const other = await providerOf('equinixmetal', id)
  assert.is(other.controlPlaneBalancer, undefined)
  assert.match(other.unsupported.join(), 'METAL_LOAD_BALANCER_ID has no effect without METAL_LOAD_BALANCER=emlb')
  const both = await providerOf('equinixmetal', { ...id, METAL_LOAD_BALANCER: 'emlb:///da', METAL_EIP_TAG: 'cp' })
  assert.match(both.unsupported.join(), 'METAL_EIP_TAG has no effect beside METAL_LOAD_BALANCER_ID')
})

test('other clouds have no managed balancers', async () => {
  for (const provider of ['packet', 'cherryservers'])
    assert.is((await providerOf(provider)).managedBalancers, undefined)
})

test('the annotations of a provider have no effect in the dialects of the others', async () => {
  const { policy } = await providerOf('cherryservers', here)
  const { ineffective = [] } = policy.annotations
  assert.equal(
    ['cherryservers.com/', 'metal.equinix.com/', 'load-balancer.hetzner.cloud/', 'service.beta.kubernetes.io/'].map(
      (prefix) => ineffective.includes(prefix),
    ),
    [false, true, true, true],
  )
  const own = dialects.flatMap(({ annotationPrefix }) => annotationPrefix ?? [])
  assert.equal(
    own.filter((prefix) => !ineffective.includes(prefix) && !policy.annotations.prefixes.includes(prefix)),
    [],
  )
})

test.run()
