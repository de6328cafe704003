import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Secret } from '../../lib/secret.ts'
import { dialects } from '../../clouds/dialects.ts'
import { cherryServers } from '../../clouds/cherry-servers/settings.ts'
import { equinixMetal } from '../../clouds/equinix-metal/settings.ts'
import { packet } from '../../clouds/equinix-metal/packet/settings.ts'
import { hetznerCloud } from '../../clouds/hetzner/settings.ts'
import { readSettings } from '../../settings/resolve.ts'
import type { Sources } from '../../settings/resolve.ts'
import type { Setting, SettingsTable } from '../../settings/setting.ts'
import {
  type Promised,
  cherryServersContract,
  hetznerContract,
  equinixMetalContract,
  packetContract,
  phoenixnapContract,
  required,
  scalewayContract,
} from '../settings/contract.ts'

const contracts: Record<string, Record<string, Promised>> = {
  'equinix-metal': equinixMetalContract,
  packet: packetContract,
  'cherry-servers': cherryServersContract,
  hetzner: hetznerContract,
  scaleway: scalewayContract,
  phoenixnap: phoenixnapContract,
}

const none: Sources = { flags: {}, env: {} }

function fileOf(fields: Record<string, unknown>): NonNullable<Sources['file']> {
  return { path: '/etc/cloud-sa/cloud-sa.json', fields, problems: [] }
}

/** The value of a setting, its secret opened. */
function valueOf(rows: SettingsTable, name: string, sources: Sources): unknown {
  const { values, problems } = readSettings({ [name]: settingOf(rows, name) }, sources)
  assert.equal(problems, [])
  return opened(values?.[name])
}

function settingOf(rows: SettingsTable, name: string): Setting<unknown> {
  const setting = rows[name]
  assert.ok(setting, `there is no setting ${name}`)
  return setting
}

function opened(value: unknown): unknown {
  return value instanceof Secret ? value.reveal() : value
}

/** Walks one promised setting through all places that it may come from. */
function walk(title: string, { rows, name, promised }: { rows: SettingsTable; name: string; promised: Promised }) {
  const { flag, env, field, otherwise, one, other } = promised
  const setting = settingOf(rows, name)
  const value = (sources: Sources) => valueOf(rows, name, sources)
  const readAs = (given: unknown) => {
    const reading = setting.format.read(String(given))
    assert.ok('value' in reading)
    return opened(reading.value)
  }
  const [isOne, isOther] = [readAs(one), readAs(other)]
  const weakest = field === undefined ? {} : { file: fileOf({ [field]: other }) }
  const fallback = field === undefined ? otherwise : isOther

  if (field !== undefined) {
    test(`${title}: ${field} comes from the file, without regard to case, as text and as it is`, () => {
      assert.equal(value({ ...none, file: fileOf({ [field]: one }) }), isOne)
      assert.equal(value({ ...none, file: fileOf({ [field.toUpperCase()]: one }) }), isOne)
      assert.equal(value({ ...none, file: fileOf({ [field.toLowerCase()]: String(one) }) }), isOne)
    })
  }

  if (env !== undefined) {
    test(`${title}: ${env} takes precedence over the file, unless it is empty`, () => {
      assert.equal(value({ ...none, ...weakest, env: { [env]: String(one) } }), isOne)
      assert.equal(value({ ...none, ...weakest, env: { [env]: ` ${String(one)}\n` } }), isOne)
      if (fallback === required) return
      assert.equal(value({ ...none, ...weakest, env: { [env]: '' } }), fallback)
      assert.equal(value({ ...none, ...weakest, env: { [env]: ' ' } }), fallback)
    })
  }

  if (flag === undefined) {
    test(`${title}: ${field} has no flag, because its value is a secret`, () => {
      assert.is(setting.flag, undefined)
      assert.is(setting.format.secret, true)
    })
  } else {
    test(`${title}: ${flag} takes precedence over everything, unless it is empty`, () => {
      const weaker = { ...weakest, env: env === undefined ? {} : { [env]: String(other) } }
      assert.equal(value({ ...weaker, flags: { [flag]: String(one) } }), isOne)
      assert.equal(value({ ...weaker, flags: { [flag]: '' } }), isOther)
    })
  }

  const places = [flag, env, field].filter((place) => place !== undefined)
  if (otherwise === required) {
    test(`${title}: without ${name} we do not start, and the error says what to set`, () => {
      const { problems } = readSettings({ [name]: setting }, none)
      assert.is(problems.length, 1)
      for (const place of places) assert.ok(problems[0]?.right.includes(place))
    })
  } else {
    test(`${title}: without ${name} the promised default holds`, () => {
      assert.equal(value(none), otherwise)
      if (field === undefined) return
      assert.equal(value({ ...none, file: fileOf({ [field]: '' }) }), otherwise)
      assert.equal(value({ ...none, file: fileOf({ [field]: null }) }), otherwise)
    })
  }
}

for (const { name: dialect, title, rows } of dialects) {
  const contract = contracts[dialect] ?? {}
  for (const [name, promised] of Object.entries(contract)) walk(title, { rows, name, promised })

  test(`${title}: the dialect has the promised settings and no others`, () => {
    assert.equal(Object.keys(rows).toSorted(), Object.keys(contract).toSorted())
  })
}

test('a local ASN of 0 is not set, as in files that a Go program wrote', () => {
  assert.is(valueOf(equinixMetal.rows, 'localAsn', { ...none, file: fileOf({ localASN: 0 }) }), 65_000)
  assert.is(valueOf(packet.rows, 'peerAsn', { ...none, file: fileOf({ peerASN: 0 }) }), undefined)
})

test('a selector and a load balancer are parsed', () => {
  const { rows } = equinixMetal
  assert.equal(
    valueOf(rows, 'bgpNodeSelector', { ...none, env: { METAL_BGP_NODE_SELECTOR: 'role in (edge, core)' } }),
    [{ key: 'role', operator: 'In', values: ['edge', 'core'] }],
  )
  assert.equal(valueOf(rows, 'loadBalancer', { ...none, env: { METAL_LOAD_BALANCER: 'metallb:///' } }), {
    kind: 'metallb',
    namespace: 'metallb-system',
    name: 'config',
    peerMode: 'native',
  })
})

const metallb = { namespace: 'metallb-system', peerMode: 'native' }
const announcers: [dialect: string, given: string, as: object][] = [
  ['equinix-metal', 'metallb:///metallb-system/', { kind: 'metallb', ...metallb, name: 'config' }],
  ['equinix-metal', 'metallb:///metallb-system?crdConfiguration=true', { kind: 'metallb-crd', ...metallb }],
  [
    'equinix-metal',
    'metallb:///?crdConfiguration=false',
    { kind: 'metallb-configmap', namespace: 'metallb-system', name: 'config' },
  ],
  ['equinix-metal', 'emlb:///da', { kind: 'managed', scheme: 'emlb', location: 'da' }],
  ['packet', 'kube-vip://', { kind: 'kube-vip' }],
  ['cherry-servers', 'metallb:///lb?bgp-peer-mode=none', { kind: 'metallb-crd', namespace: 'lb', peerMode: 'none' }],
  ['packet', 'metallb:///lb/peers', { kind: 'metallb-configmap', namespace: 'lb', name: 'peers' }],
  ['cherry-servers', 'metallb:///metallb-system/', { kind: 'metallb-crd', ...metallb }],
  [
    'cherry-servers',
    'metallb:///metallb-system/?bgp-peer-mode=frr',
    { kind: 'metallb-crd', ...metallb, peerMode: 'frr' },
  ],
  [
    'cherry-servers',
    'metallb:///metallb-system/config',
    { kind: 'metallb-configmap', namespace: 'metallb-system', name: 'config' },
  ],
  ['cherry-servers', 'empty://', { kind: 'empty', ipAnnotation: 'cherryservers.com/loadBalancerIPs' }],
  ['packet', 'empty://', { kind: 'empty', ipAnnotation: undefined }],
  ['cherry-servers', 'empty://?ip-annotation=example.com/ip', { kind: 'empty', ipAnnotation: 'example.com/ip' }],
]
for (const [name, given, as] of announcers) {
  test(`${given} in ${name}, by flag, environment and file`, () => {
    const rows = dialects.find((dialect) => dialect.name === name)?.rows ?? equinixMetal.rows
    const { env = '' } = rows.loadBalancer
    assert.equal(valueOf(rows, 'loadBalancer', { ...none, flags: { '--loadbalancer': given } }), as)
    assert.equal(valueOf(rows, 'loadBalancer', { ...none, env: { [env]: given } }), as)
    assert.equal(valueOf(rows, 'loadBalancer', { ...none, file: fileOf({ loadbalancer: given }) }), as)
  })
}

test('the configuration file is where predecessors kept it', () => {
  assert.equal(
    dialects.flatMap(({ predecessors: [first] }) => (first ? `${first.secret.namespace}/${first.secret.name}` : [])),
    ['kube-system/metal-cloud-config', 'kube-system/packet-cloud-config', 'kube-system/cherry-cloud-config'],
  )
})

test("Equinix Metal's managed load balancers are refused in other dialects", () => {
  for (const { rows } of [packet, cherryServers]) {
    const { problems } = readSettings(
      { loadBalancer: rows.loadBalancer },
      { ...none, flags: { '--loadbalancer': 'emlb:///da' } },
    )
    assert.match(problems[0]?.right ?? '', 'kube-vip://')
    assert.not.match(problems[0]?.right ?? '', 'emlb')
  }
})

test('where the provider has no BGP, software that needs it is refused with the reason', () => {
  const { rows } = hetznerCloud
  for (const given of ['metallb:///', 'kube-vip://', 'cilium:///']) {
    const sources = { ...none, flags: { '--loadbalancer': given } }
    const { problems } = readSettings({ loadBalancer: rows.loadBalancer }, sources)
    const scheme = given.split(':')[0]
    assert.match(problems[0]?.right ?? '', `; ${scheme} needs BGP sessions of nodes, which this cloud does not offer`)
    assert.not.match(problems[0]?.right ?? '', 'calico:')
  }
})

test("the id of Cherry's project is a number, however it is written", () => {
  const { rows } = cherryServers
  assert.is(valueOf(rows, 'projectId', { ...none, file: fileOf({ projectId: '0123' }) }), '123')
  for (const wrong of ['p-1', '-1', '1.5']) {
    const { problems } = readSettings({ projectId: rows.projectId }, { ...none, flags: { '--project-id': wrong } })
    assert.match(problems[0]?.right ?? '', 'a whole number, such as 218450')
  }
  const { problems } = readSettings({ projectId: rows.projectId }, { ...none, file: fileOf({ projectID: 0 }) })
  assert.is(problems[0]?.wrong, 'not set')
})

test('the sweep interval has our environment variable beside that of the dialect', () => {
  const { rows } = packet
  const ours = { EIP_SWEEP_INTERVAL: '2m' }
  assert.is(valueOf(rows, 'sweepIntervalMs', { ...none, env: ours }), 120_000)
  assert.is(valueOf(rows, 'sweepIntervalMs', { ...none, env: { ...ours, PACKET_SWEEP_INTERVAL: '10s' } }), 10_000)
})

test.run()
