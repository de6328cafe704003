import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { equinixMetal } from '../../../server/settings/dialects/equinix-metal.ts'
import { readSettings } from '../../../server/settings/resolve.ts'
import type { Sources } from '../../../server/settings/resolve.ts'
import { Secret } from '../../../clouds/secret.ts'
import type { SettingsTable } from '../../../server/settings/setting.ts'

const { rows } = equinixMetal
type Name = keyof typeof rows

/** What the predecessor's users rely on: names, and what holds when nothing is said. */
type Promised = { flag?: string; env?: string; field: string; otherwise: unknown; one: unknown; other: unknown }

const texts = { one: 'one', other: 'other' }
const numbers = { one: 1, other: 2 }
const annotations = { one: 'example.com/one', other: 'example.com/other-{{n}}' }
const required = Symbol('required')

const contract: Record<Name, Promised> = {
  apiKey: { env: 'METAL_API_KEY', field: 'apiKey', otherwise: required, ...texts },
  projectId: { flag: '--project-id', env: 'METAL_PROJECT_ID', field: 'projectID', otherwise: required, ...texts },
  metro: { flag: '--metro', env: 'METAL_METRO_NAME', field: 'metro', otherwise: undefined, ...texts },
  facility: { flag: '--facility', env: 'METAL_FACILITY_NAME', field: 'facility', otherwise: undefined, ...texts },
  baseUrl: {
    flag: '--base-url',
    field: 'base-url',
    otherwise: 'https://api.equinix.com/metal/v1',
    one: 'https://one.example.com',
    other: 'http://127.0.0.1:8080/metal/v1',
  },
  loadBalancer: {
    flag: '--loadbalancer',
    env: 'METAL_LOAD_BALANCER',
    field: 'loadbalancer',
    otherwise: { kind: 'none' },
    one: 'kube-vip://',
    other: 'none',
  },
  localAsn: { flag: '--local-asn', env: 'METAL_LOCAL_ASN', field: 'localASN', otherwise: 65_000, ...numbers },
  bgpPass: { env: 'METAL_BGP_PASS', field: 'bgpPass', otherwise: undefined, ...texts },
  annotationLocalAsn: {
    flag: '--annotation-local-asn',
    env: 'METAL_ANNOTATION_LOCAL_ASN',
    field: 'annotationLocalASN',
    otherwise: 'metal.equinix.com/bgp-peers-{{n}}-node-asn',
    ...annotations,
  },
  annotationPeerAsn: {
    flag: '--annotation-peer-asn',
    env: 'METAL_ANNOTATION_PEER_ASN',
    field: 'annotationPeerASN',
    otherwise: 'metal.equinix.com/bgp-peers-{{n}}-peer-asn',
    ...annotations,
  },
  annotationPeerIp: {
    flag: '--annotation-peer-ip',
    env: 'METAL_ANNOTATION_PEER_IP',
    field: 'annotationPeerIP',
    otherwise: 'metal.equinix.com/bgp-peers-{{n}}-peer-ip',
    ...annotations,
  },
  annotationSrcIp: {
    flag: '--annotation-src-ip',
    env: 'METAL_ANNOTATION_SRC_IP',
    field: 'annotationSrcIP',
    otherwise: 'metal.equinix.com/bgp-peers-{{n}}-src-ip',
    ...annotations,
  },
  annotationBgpPass: {
    flag: '--annotation-bgp-pass',
    env: 'METAL_ANNOTATION_BGP_PASS',
    field: 'annotationBGPPass',
    otherwise: 'metal.equinix.com/bgp-peers-{{n}}-bgp-pass',
    ...annotations,
  },
  annotationNetworkIpv4Private: {
    flag: '--annotation-network-ipv4-private',
    env: 'METAL_ANNOTATION_NETWORK_IPV4_PRIVATE',
    field: 'annotationNetworkIPv4Private',
    otherwise: 'metal.equinix.com/network-4-private',
    ...annotations,
  },
  annotationEipMetro: {
    flag: '--annotation-eip-metro',
    env: 'METAL_ANNOTATION_EIP_METRO',
    field: 'annotationEIPMetro',
    otherwise: 'metal.equinix.com/eip-metro',
    ...annotations,
  },
  annotationEipFacility: {
    flag: '--annotation-eip-facility',
    env: 'METAL_ANNOTATION_EIP_FACILITY',
    field: 'annotationEIPFacility',
    otherwise: 'metal.equinix.com/eip-facility',
    ...annotations,
  },
  eipTag: { flag: '--eip-tag', env: 'METAL_EIP_TAG', field: 'eipTag', otherwise: undefined, ...texts },
  loadBalancerId: {
    flag: '--load-balancer-id',
    env: 'METAL_LOAD_BALANCER_ID',
    field: 'loadBalancerID',
    otherwise: undefined,
    ...texts,
  },
  apiServerPort: {
    flag: '--api-server-port',
    env: 'METAL_API_SERVER_PORT',
    field: 'apiServerPort',
    otherwise: 0,
    ...numbers,
  },
  bgpNodeSelector: {
    flag: '--bgp-node-selector',
    env: 'METAL_BGP_NODE_SELECTOR',
    field: 'bgpNodeSelector',
    otherwise: undefined,
    ...texts,
  },
  eipHealthCheckUseHostIp: {
    flag: '--eip-health-check-use-host-ip',
    env: 'METAL_EIP_HEALTH_CHECK_USE_HOST_IP',
    field: 'eipHealthCheckUseHostIP',
    otherwise: false,
    one: true,
    other: false,
  },
}

const none: Sources = { flags: {}, env: {} }

function fileOf(fields: Record<string, unknown>): NonNullable<Sources['file']> {
  return { path: '/etc/cloud-sa/cloud-sa.json', fields, problems: [] }
}

/** What one setting comes to, its secret opened. */
function valueOf(name: Name, sources: Sources): unknown {
  const table: SettingsTable = { [name]: rows[name] }
  const { values, problems } = readSettings(table, sources)
  assert.equal(problems, [])
  const value = values?.[name]
  return value instanceof Secret ? value.reveal() : value
}

/** What a value of the contract is once it is read. */
function readAs(name: Name, value: unknown): unknown {
  const reading = rows[name].format.read(String(value))
  assert.ok('value' in reading)
  return reading.value instanceof Secret ? reading.value.reveal() : reading.value
}

for (const [key, promised] of Object.entries(contract)) {
  const name = key as Name
  const { flag, env, field, otherwise, one, other } = promised
  const [isOne, isOther] = [readAs(name, one), readAs(name, other)]

  test(`${field} comes from the file, without regard to case, as text and as it is`, () => {
    assert.equal(valueOf(name, { ...none, file: fileOf({ [field]: one }) }), isOne)
    assert.equal(valueOf(name, { ...none, file: fileOf({ [field.toUpperCase()]: one }) }), isOne)
    assert.equal(valueOf(name, { ...none, file: fileOf({ [field.toLowerCase()]: String(one) }) }), isOne)
  })

  if (env !== undefined) {
    test(`${env} goes before the file, unless it is empty`, () => {
      const file = fileOf({ [field]: other })
      assert.equal(valueOf(name, { ...none, env: { [env]: String(one) }, file }), isOne)
      assert.equal(valueOf(name, { ...none, env: { [env]: ` ${String(one)}\n` }, file }), isOne)
      assert.equal(valueOf(name, { ...none, env: { [env]: '' }, file }), isOther)
      assert.equal(valueOf(name, { ...none, env: { [env]: ' ' }, file }), isOther)
    })
  }

  if (flag === undefined) {
    test(`${field} has no flag, as its value is a secret`, () => {
      assert.is('flag' in rows[name], false)
      assert.is(rows[name].format.secret, true)
    })
  } else {
    test(`${flag} goes before everything, unless it is empty`, () => {
      const weaker = { env: env === undefined ? {} : { [env]: String(other) }, file: fileOf({ [field]: other }) }
      assert.equal(valueOf(name, { ...weaker, flags: { [flag]: String(one) } }), isOne)
      assert.equal(valueOf(name, { ...weaker, flags: { [flag]: '' } }), isOther)
    })
  }

  test(`without ${field} ${otherwise === required ? 'we do not start, and say what to set' : 'the promised default holds'}`, () => {
    if (otherwise !== required) {
      assert.equal(valueOf(name, none), otherwise)
      assert.equal(valueOf(name, { flags: {}, env: {}, file: fileOf({ [field]: '' }) }), otherwise)
      assert.equal(valueOf(name, { flags: {}, env: {}, file: fileOf({ [field]: null }) }), otherwise)
      return
    }
    const { problems } = readSettings({ [name]: rows[name] }, none)
    assert.is(problems.length, 1)
    for (const place of [flag, env, field]) assert.ok(place === undefined || problems[0]?.right.includes(place))
  })
}

test('no setting is here that the predecessor does not have', () => {
  assert.equal(Object.keys(rows).toSorted(), Object.keys(contract).toSorted())
})

test('a local ASN of 0 is not set, as in files that a Go program wrote', () => {
  assert.is(valueOf('localAsn', { ...none, file: fileOf({ localASN: 0 }) }), 65_000)
})

test('a selector and a load balancer arrive in parts', () => {
  assert.equal(valueOf('bgpNodeSelector', { ...none, env: { METAL_BGP_NODE_SELECTOR: 'role in (edge, core)' } }), [
    { key: 'role', operator: 'In', values: ['edge', 'core'] },
  ])
  assert.equal(valueOf('loadBalancer', { ...none, env: { METAL_LOAD_BALANCER: 'metallb:///' } }), {
    kind: 'metallb',
    namespace: 'metallb-system',
    name: 'config',
    peerMode: 'native',
  })
})

test.run()
