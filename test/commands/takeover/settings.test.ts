// How a predecessor's settings are found and translated.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { chartValuesOf } from '../../../commands/takeover/plan/planned-settings.ts'
import { findPredecessors, predecessorIn } from '../../../inspect/find-predecessors.ts'
import { KubeError } from '../../../kube/errors.ts'
import type { Container, Volume, Workload } from '../../../kube/workloads.ts'
import { type GivenSettings, readGivenSettings } from '../../../inspect/given-settings.ts'
import { type Predecessor, predecessors, runningVersion, versionOf } from '../../../inspect/predecessors.ts'
import { translate } from '../../../commands/takeover/plan/translate.ts'
import { remedyText } from '../../../lib/remedy.ts'

const images: [string, Predecessor['id'] | undefined, string | undefined][] = [
  ['equinix/cloud-provider-equinix-metal:v3.8.1', 'equinix-metal', '3.8.1'],
  ['quay.io/equinix-oss/cloud-provider-equinix-metal:v3.7.0@sha256:00', 'equinix-metal', '3.7.0'],
  ['registry:5000/mirror/cloud-provider-equinix-metal:main', 'equinix-metal', undefined],
  ['ghcr.io/siderolabs/cloud-provider-equinix-metal:v3.8.1-1', 'equinix-metal-sidero', '3.8.1-1'],
  ['packethost/packet-ccm:v1.1.0', 'packet', '1.1.0'],
  ['packethost/packet-ccm:7e3189de8abd08dcae35cf052b45326c29f79b7b', 'packet', undefined],
  ['ghcr.io/cherryservers/cloud-provider-cherry@sha256:abc', 'cherry-servers', undefined],
  ['ghcr.io/cherryservers/cloud-provider-cherry:v1.35.2', 'cherry-servers', '1.35.2'],
  ['cloud-provider-cherry-exporter:v1', undefined, undefined],
  ['eip-admission/eip-admission:v1.0.0', undefined, '1.0.0'],
]

for (const [image, id, version] of images)
  test(`image ${image}`, () =>
    assert.equal([predecessorIn([{ image }])?.predecessor.id, versionOf(image)], [id, version]))

const elsewhere: { name: string; at?: { namespace: string; name: string }; container: Container; id?: string }[] = [
  { name: 'the program in its command', container: { command: ['./cloud-provider-cherry'] }, id: 'cherry-servers' },
  {
    name: 'the program in the arguments of a shell',
    container: { command: ['tini', '--'], args: ['/bin/cloud-provider-equinix-metal', '--v=2'] },
    id: 'equinix-metal',
  },
  { name: "packet's program", container: { command: ['./packet-cloud-controller-manager'] }, id: 'packet' },
  {
    name: 'the workload of its manifests',
    at: { namespace: 'kube-system', name: 'cloud-provider-equinix-metal' },
    container: {},
    id: 'equinix-metal',
  },
  { name: 'that name elsewhere', at: { namespace: 'web', name: 'cloud-provider-equinix-metal' }, container: {} },
  { name: 'ours', container: { args: ['serve', '--cloud-provider=equinixmetal'] } },
]

for (const { name, at, container, id } of elsewhere)
  test(`an image of another name with ${name}, whose tag says no version`, () => {
    const found = predecessorIn([{ image: 'proxy' }, { ...container, image: 'registry.example/ccm:2024.1' }], at)
    assert.is(found?.predecessor.id, id)
    if (found && !at) assert.is(runningVersion(found), undefined)
  })

const mounted: Container['volumeMounts'] = [{ name: 'sa', mountPath: '/etc/cloud-sa/' }]

function deployment(container: Container, volumes: Volume[] = []): Workload {
  const image = 'equinix/cloud-provider-equinix-metal:v3.8.1'
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'ccm', name: 'cpem' },
    spec: { template: { spec: { containers: [{ image: 'proxy' }, { image, ...container }], volumes } } },
  }
}

const data: Record<string, Record<string, string>> = {
  'Secret ccm/config': { 'cloud-sa.json': '{"apiKey":"t0ken","projectID":"p"}', 'other.json': '{}' },
  'Secret ccm/env': { METAL_API_KEY: 'from-env', id: 'p2' },
  'ConfigMap ccm/env': { LB: 'empty://' },
}

async function given(container: Container, volumes?: Volume[]): Promise<GivenSettings> {
  const [found] = findPredecessors([deployment(container, volumes)], []).workloads
  assert.ok(found)
  return readGivenSettings(found, async ({ kind, namespace, name }) => {
    if (name === 'forbidden') throw new KubeError('you may not', { status: 403, reason: 'Forbidden' })
    if (name === 'slow') throw new KubeError('no answer', { status: 503, reason: 'ServiceUnavailable' })
    return data[`${kind} ${namespace}/${name}`]
  })
}

const secretVolume: Volume = { name: 'sa', secret: { secretName: 'config' } }
const places: { name: string; path: string; volume: Volume; mounts?: Container['volumeMounts']; key?: string }[] = [
  { name: 'a Secret', path: '/etc/cloud-sa/cloud-sa.json', volume: secretVolume, key: 'cloud-sa.json' },
  {
    name: 'an item of a Secret',
    path: '/etc/cloud-sa/x.json',
    volume: { name: 'sa', secret: { secretName: 'config', items: [{ key: 'other.json', path: 'x.json' }] } },
    key: 'other.json',
  },
  {
    name: 'a single file',
    path: '/cloud.json',
    volume: secretVolume,
    mounts: [{ name: 'sa', mountPath: '/cloud.json', subPath: 'cloud-sa.json' }],
    key: 'cloud-sa.json',
  },
  {
    name: 'a projected volume',
    path: '/etc/cloud-sa/cloud-sa.json',
    volume: { name: 'sa', projected: { sources: [{ secret: { name: 'config' } }] } },
    key: 'cloud-sa.json',
  },
  { name: 'a path of the host', path: '/etc/cloud-sa/cloud-sa.json', volume: { name: 'sa', hostPath: { path: '/x' } } },
  { name: 'nothing that is mounted', path: '/etc/other', volume: secretVolume },
]

for (const { name, path, volume, mounts = mounted, key } of places)
  test(`the configuration file from ${name}`, async () => {
    const { file, unread } = await given({ args: [`--cloud-config=${path}`], volumeMounts: mounts }, [volume])
    assert.is(file?.ref.key, key)
    assert.is(unread.length, key === undefined ? 1 : 0)
  })

test('what may not be read, or is not there, is named', async () => {
  const { unread } = await given(
    {
      args: ['--cloud-config=/etc/cloud-sa/none.json'],
      volumeMounts: mounted,
      envFrom: [{ secretRef: { name: 'forbidden' } }],
      env: [
        { name: 'A', valueFrom: { secretKeyRef: { name: 'gone', key: 'a' } } },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'gone', key: 'a', optional: true } } },
      ],
    },
    [secretVolume],
  )
  assert.equal(
    unread.map(({ where, what }) => `${where} ${what}`),
    [
      'Secret ccm/forbidden cannot be read: you may not',
      'Secret ccm/gone does not exist',
      'Secret ccm/config has no key none.json',
    ],
  )
})

test('only where the API server refuses a read, somebody else should read it', async () => {
  for (const [name, isRight] of [
    ['forbidden', true],
    ['slow', false],
    ['gone', false],
  ] as const) {
    const { findings } = translate(equinix, await given({ envFrom: [{ secretRef: { name } }] }))
    const { remedy = '' } = findings.find(({ where }) => where === `Secret ccm/${name}`) ?? {}
    assert.is(remedyText(remedy).includes('as a user who may read it'), isRight, name)
  }
})

test('flags in every form of Go, with variables of the container', async () => {
  const { flags } = await given({
    command: ['./ccm', '-v', '2', '--leader-elect'],
    args: ['--concurrent-service-syncs', '4', '--metro=$(PLACE)', '--odd=$(NONE)'],
    env: [{ name: 'PLACE', value: 'da' }],
  })
  assert.equal(flags, {
    '--v': '2',
    '--leader-elect': 'true',
    '--concurrent-service-syncs': '4',
    '--metro': 'da',
    '--odd': '$(NONE)',
  })
})

test('a flag that has a variable from a Secret goes into the file, and not into the values', async () => {
  const found = await given({
    args: ['--project-id=$(ID)', '--eip-tag=$(ID)', '--max-addresses=$(ID)'],
    env: [{ name: 'ID', valueFrom: { secretKeyRef: { name: 'env', key: 'id' } } }],
  })
  const { flags, merged, findings } = translate(equinix, found)
  assert.equal([flags, merged], [{}, { projectID: 'p2', eipTag: 'p2' }])
  assert.equal(
    findings.map(({ reason, where }) => [reason, where]),
    [['untranslated-setting', '--max-addresses']],
  )
})

const [sidero, equinix, packet] = predecessors as [Predecessor, Predecessor, Predecessor]
const none: GivenSettings = { flags: {}, secretFlags: [], env: [], file: undefined, unread: [] }
const ref = { kind: 'Secret', namespace: 'kube-system', name: 'metal-cloud-config', key: 'cloud-sa.json' } as const

test('flags of the table stay, those of the pod and without effect go, unknown ones are named', () => {
  const { flags, findings } = translate(equinix, {
    ...none,
    flags: {
      '--cloud-provider': 'equinixmetal',
      '--provider-config': '/x',
      '--leader-elect': 'false',
      '--leader-elect-resource-name': 'ccm',
      '--secure-port': '10259',
      '--authentication-skip-lookup': 'true',
      '--controllers': '*,-service',
      '--tls-sni-cert-key': 'secret-looking',
    },
  })
  assert.equal(flags, { '--leader-elect-resource-name': 'ccm', '--controllers': '*,-service' })
  assert.equal(
    findings.map(({ reason, where }) => [reason, where]),
    [['unknown-flag', '--tls-sni-cert-key']],
  )
  assert.not.match(JSON.stringify(findings), 'secret-looking')
})

test('the environment takes precedence over the file; what is secret in it goes into the file', () => {
  const text = JSON.stringify({ APIKEY: 'old', projectID: 'p', metro: 'da', oddity: 1 })
  const { flags, file, merged, extraEnv, findings } = translate(sidero, {
    ...none,
    file: { ref, text },
    env: [
      { name: 'METAL_API_KEY', value: 't0ken', isSecret: true },
      { name: 'METAL_PROJECT_ID', value: 'p2', isSecret: true },
      { name: 'METAL_METRO_NAME', value: 'sv', isSecret: false },
      { name: 'METAL_BGP_PASS', value: 'pass', isSecret: false },
      { name: 'METAL_OLD_THING', value: 'x', isSecret: false },
      { name: 'HTTPS_PROXY', value: 'http://proxy:3128', isSecret: false },
      { name: 'HTTP_PROXY', value: 'http://me:word@proxy:3128', isSecret: false },
      { name: 'https_proxy', value: 'http://proxy:3129', isSecret: true },
      { name: 'METAL_FACILITY_NAME', value: '', isSecret: false },
      { name: 'EIP_MAX_ADDRESSES', value: '5', isSecret: true },
    ],
  })
  assert.equal(flags, { '--metro': 'sv' })
  assert.equal(merged, { apiKey: 't0ken', projectID: 'p2', bgpPass: 'pass' })
  assert.equal(file?.fields, { metro: 'da', oddity: 1, apiKey: 't0ken', projectID: 'p2', bgpPass: 'pass' })
  assert.equal(extraEnv, [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }])
  assert.equal(
    findings.map(({ reason, where }) => [reason, where]),
    [
      ['unknown-variable', 'METAL_OLD_THING'],
      ['secret-proxy', 'HTTP_PROXY'],
      ['secret-proxy', 'https_proxy'],
      ['untranslated-setting', 'EIP_MAX_ADDRESSES'],
    ],
  )
  assert.not.match(JSON.stringify(findings), /me:word|3129/)
})

const formerNames: {
  name: string
  of: Predecessor['id']
  version: string | undefined
  env?: Record<string, string>
  file?: object
  flag?: string
  field?: string
}[] = [
  {
    name: 'CPEM 3.0',
    of: 'equinix-metal',
    version: '3.0.2',
    env: { METAL_LB: 'metallb:///a/b' },
    flag: 'metallb:///a/b',
  },
  {
    name: 'CPEM 3.1, whose file has the same setting',
    of: 'equinix-metal',
    version: '3.1.0',
    env: { METAL_LB: 'kube-vip://' },
    file: { loadbalancer: 'empty://' },
    flag: 'kube-vip://',
    field: 'empty://',
  },
  { name: 'CPEM 3.2, which does not read it', of: 'equinix-metal', version: '3.2.0', env: { METAL_LB: 'empty://' } },
  {
    name: 'a CPEM of no version, with the present name too',
    of: 'equinix-metal',
    version: undefined,
    env: { METAL_LB: 'kube-vip://', METAL_LOAD_BALANCER: 'empty://' },
    flag: 'empty://',
  },
  {
    name: 'a CPEM of no version, with the present field too',
    of: 'equinix-metal',
    version: undefined,
    env: { METAL_LB: 'kube-vip://' },
    file: { loadbalancer: 'empty://' },
    field: 'empty://',
  },
  {
    name: 'packet-ccm 2.0',
    of: 'packet',
    version: '2.0.0',
    env: { PACKET_LB_CONFIGMAP: 'a:b' },
    flag: 'metallb:///a/b',
  },
  {
    name: 'packet-ccm 2.0, off',
    of: 'packet',
    version: '2.0.0',
    env: { PACKET_LB_CONFIGMAP: 'disabled' },
    flag: 'none',
  },
  {
    name: 'packet-ccm 2.0 by its file',
    of: 'packet',
    version: '2.0.0',
    file: { 'loadbalancer-configmap': 'a:b' },
    field: 'metallb:///a/b',
  },
  {
    name: 'packet-ccm 2.0 by its file, in other letters and twice, of which Go takes the last',
    of: 'packet',
    version: '2.0.0',
    file: { 'loadbalancer-configmap': 'a:b', 'LoadBalancer-ConfigMap': 'c:d' },
    field: 'metallb:///c/d',
  },
  {
    name: 'a CPEM of no version, with the present field in other letters',
    of: 'equinix-metal',
    version: undefined,
    env: { METAL_LB: 'kube-vip://' },
    file: { loadBalancer: 'empty://' },
    field: 'empty://',
  },
]

for (const { name, of, version, env = {}, file = {}, flag, field } of formerNames)
  test(`a previous name of the load balancer setting: ${name}`, () => {
    const predecessor = predecessors.find(({ id }) => id === of)
    assert.ok(predecessor)
    const variables = Object.entries(env).map(([key, value]) => ({ name: key, value, isSecret: false }))
    const settings = { ...none, env: variables, file: { ref, text: JSON.stringify(file) } }
    const { flags, file: translated } = translate(predecessor, settings, version)
    const fields = Object.entries(translated?.fields ?? {}).map(([key, value]) => [key.toLowerCase(), value])
    assert.equal(
      [flags['--loadbalancer'], Object.fromEntries(fields)],
      [flag, field === undefined ? {} : { loadbalancer: field }],
    )
  })

const peersVariables: { version: string; variables: string[]; flags: object; unknown: string[] }[] = [
  {
    version: '3.0.2',
    variables: ['METAL_ANNOTATION_PEER_ASNS=a/asns', 'METAL_ANNOTATION_PEER_IPS=a/ips', 'METAL_PEER_ASN=65530'],
    flags: { '--annotation-peer-asn': 'a/asns', '--annotation-peer-ip': 'a/ips' },
    unknown: ['METAL_PEER_ASN'],
  },
  {
    version: '3.2.2',
    variables: ['METAL_ANNOTATION_PEER_IPS=a/ips', 'METAL_PEER_ASN=65530'],
    flags: { '--annotation-peer-ip': 'a/ips' },
    unknown: ['METAL_PEER_ASN'],
  },
  {
    version: '3.2.3',
    variables: ['METAL_ANNOTATION_PEER_IPS=a/ips', 'METAL_ANNOTATION_PEER_IP=a/ip'],
    flags: { '--annotation-peer-ip': 'a/ip' },
    unknown: ['METAL_ANNOTATION_PEER_IPS'],
  },
]

for (const { version, variables, ...wanted } of peersVariables)
  test(`CPEM ${version} reads ${variables.map((one) => one.replace(/=.*/, '')).join(', ')} as it was released`, () => {
    const env = variables.map((one) => {
      const [name = '', value = ''] = one.split('=')
      return { name, value, isSecret: false }
    })
    const { flags, findings } = translate(equinix, { ...none, env }, version)
    assert.equal({ flags, unknown: findings.map(({ where }) => where) }, wanted)
  })

test('packet-ccm 1.1 turned load balancing off by a field that its README spelled in another way', () => {
  const predecessor = predecessors.find(({ id }) => id === 'packet')
  assert.ok(predecessor)
  const fieldsOf = (fields: object) =>
    translate(predecessor, { ...none, file: { ref, text: JSON.stringify(fields) } }, '1.1.0').file?.fields
  assert.equal(fieldsOf({ facility: 'ewr1', disableLoadBalancer: true }), {
    facility: 'ewr1',
    'disable-loadbalancer': 'true',
  })
  assert.equal(fieldsOf({ disableLoadBalancer: false }), { 'disable-loadbalancer': 'false' })
  assert.equal(fieldsOf({ disableloadbalancer: true }), { 'disable-loadbalancer': 'true' })
})

test('a file that is no JSON is a problem that quotes nothing of it', () => {
  const { file } = translate(equinix, { ...none, file: { ref, text: '{"apiKey": t0ken}' } })
  assert.match(file?.problems[0]?.wrong ?? '', 'is not JSON')
  assert.not.match(JSON.stringify(file), 't0ken')
})

test('the values file has what the chart takes, and names the ConfigMap of MetalLB', () => {
  const values = chartValuesOf({
    dialect: 'packet',
    cloudProvider: packet.provider,
    flags: {
      '--facility': 'da11',
      '--api-server': 'https://127.0.0.1',
      '--leader-elect-resource-lock': 'leases',
      '--metro': 'da',
    },
    secret: { name: 's', key: 'k' },
    extraEnv: [{ name: 'NO_PROXY', value: '.local' }],
    loadBalancer: { kind: 'metallb-configmap', namespace: 'metallb-system', name: 'pools' },
  })
  assert.equal(parse(values), {
    cloudProvider: 'packet',
    cloudConfig: { secretName: 's', key: 'k' },
    settings: { facility: 'da11' },
    metallb: { configMap: 'pools' },
    extraEnv: [{ name: 'NO_PROXY', value: '.local' }],
  })
})

test.run()
