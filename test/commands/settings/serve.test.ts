import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dialects } from '../../../clouds/dialects.ts'
import { ignoredFlags } from '../../../commands/settings/ignored-flags.ts'
import { SettingsError } from '../../../settings/problems.ts'
import { processSections, processSettings } from '../../../settings/process.ts'
import { serveSettings } from '../../../commands/settings/serve.ts'
import type { ServeSettings } from '../../../commands/settings/serve.ts'
import type { SettingsTable } from '../../../settings/setting.ts'

const env = { METAL_API_KEY: 'hidden', METAL_PROJECT_ID: 'p' }
const provider = { '--cloud-provider': 'equinixmetal' }

function serveWith(flags: Record<string, string>, environment: Record<string, string> = env): ServeSettings {
  return serveSettings({ flags: { ...provider, ...flags }, env: environment })
}

function linesOf(flags: Record<string, string>, environment: Record<string, string> = env): string[] {
  try {
    serveSettings({ flags, env: environment })
  } catch (error) {
    if (error instanceof SettingsError) return error.message.split('\n').slice(1)
    throw error
  }
  return []
}

test('what is not said has upstream’s defaults, or ours', () => {
  const { process, cloud, warnings } = serveWith({})
  assert.equal(process, {
    kubeconfig: undefined,
    apiServer: undefined,
    namespace: 'eip-admission',
    only: undefined,
    concurrentServiceSyncs: 10,
    webhookBindAddress: '::',
    webhookSecurePort: 10_260,
    webhookProbeIntervalMs: 120_000,
    bindAddress: '::',
    securePort: 10_258,
    webhookClientCaFile: undefined,
    webhookClientNames: [],
    statusPageAddress: undefined,
    statusPageTokenFile: undefined,
    caLifetimeMs: 31_536_000_000,
    certLifetimeMs: 604_800_000,
    leftControllers: [],
    leaderElect: true,
    leaseDurationMs: 6_000,
    renewDeadlineMs: 5_000,
    retryPeriodMs: 1_000,
    leaseName: 'cloud-controller-manager',
    tlsMinVersion: 'VersionTLS12',
    tlsCipherSuites: [],
    leaseNamespace: 'kube-system',
    verbosity: 0,
    loggingFormat: 'text',
    shutdownDelayMs: 10_000,
    nodeStatusUpdateMs: 300_000,
    nodeMonitorMs: 5000,
    concurrentNodeSyncs: 4,
    nodeRemoval: 'delete',
    nodeRemovalDelayMs: 30_000,
    maxNodeRemovals: 5,
    probeIntervalMs: 1000,
    probeTimeoutMs: 3000,
    probeFailures: 3,
    probeSuccesses: 10,
    controlPlaneCooldownMs: 30_000,
    controlPlaneReadMs: 60_000,
    guardianLeaseMs: 3000,
    guardianRenewDeadlineMs: 2000,
    guardianRetryMs: 500,
    nodeName: undefined,
    certDir: undefined,
    podName: undefined,
    podUid: undefined,
  })
  const { serviceLocationWins, excludedNamespaces, onCloudFailure } = cloud.settings
  const { unboundGraceMs, sweepIntervalMs, defaultReclaimPolicy } = cloud.settings
  const { maxAddresses, maxAddressesPerNamespace, maxUnbound, allowRetain } = cloud.settings
  assert.equal([maxAddresses, maxAddressesPerNamespace, maxUnbound, allowRetain], [100, 20, 100, true])
  assert.equal([serviceLocationWins, excludedNamespaces, onCloudFailure], [false, [], 'defer'])
  assert.equal([unboundGraceMs, sweepIntervalMs, defaultReclaimPolicy], [900_000, 300_000, 'Delete'])
  assert.equal(warnings, [])
})

test('common settings come from flag and environment, the flag first', () => {
  const given = {
    EIP_SERVICE_LOCATION_WINS: 'true',
    EIP_EXCLUDE_NAMESPACES: 'a,b',
    EIP_ON_CLOUD_FAILURE: 'deny',
    EIP_UNBOUND_GRACE: '1h',
    EIP_SWEEP_INTERVAL: '30s',
    EIP_DEFAULT_RECLAIM_POLICY: 'Retain',
  }
  const fromEnv = serveWith({}, { ...env, ...given }).cloud.settings
  assert.equal(
    [fromEnv.serviceLocationWins, fromEnv.excludedNamespaces, fromEnv.onCloudFailure, fromEnv.unboundGraceMs],
    [true, ['a', 'b'], 'deny', 3_600_000],
  )
  assert.equal([fromEnv.sweepIntervalMs, fromEnv.defaultReclaimPolicy], [30_000, 'Retain'])
  const flags = { '--on-cloud-failure': 'defer', '--exclude-namespaces': 'c', '--unbound-grace': '2h' }
  const fromFlags = serveWith(flags, { ...env, ...given }).cloud.settings
  assert.equal(
    [fromFlags.onCloudFailure, fromFlags.excludedNamespaces, fromFlags.unboundGraceMs],
    ['defer', ['c'], 7_200_000],
  )
})

const providers: [name: string, dialect: string][] = [
  ['equinixmetal', 'equinix-metal'],
  ['equinix-metal', 'equinix-metal'],
  ['EquinixMetal', 'equinix-metal'],
  ['packet', 'packet'],
  ['cherryservers', 'cherry-servers'],
  ['cherry-servers', 'cherry-servers'],
]
const accounts = {
  ...env,
  PACKET_API_KEY: 'hidden',
  PACKET_PROJECT_ID: 'p',
  CHERRY_API_KEY: 'hidden',
  CHERRY_PROJECT_ID: '7',
}
for (const [name, dialect] of providers) {
  test(`--cloud-provider=${name} is the dialect ${dialect}`, () => {
    assert.is(serveWith({ '--cloud-provider': name }, accounts).cloud.dialect.name, dialect)
  })
}

test('the error lists all problems of a dialect, under its own names', () => {
  const packet = linesOf({ '--cloud-provider': 'packet', '--peer-asn': 'x', '--sweep-interval': '1' }, {}).join('\n')
  for (const part of ['PACKET_API_KEY', 'PACKET_PROJECT_ID', '--peer-asn', '--sweep-interval'])
    assert.match(packet, part)
  const given = { CHERRY_PROJECT_ID: 'edge', CHERRY_LOAD_BALANCER: 'metallb://metallb-system' }
  const cherry = linesOf({ '--cloud-provider': 'cherryservers' }, given).join('\n')
  for (const part of ['CHERRY_API_KEY', 'CHERRY_PROJECT_ID is "edge"', 'CHERRY_LOAD_BALANCER'])
    assert.match(cherry, part)
})

test('a flag of another dialect is refused', () => {
  const flags = { '--cloud-provider': 'cherryservers', '--metro': 'da' }
  assert.equal(linesOf(flags, accounts), ['  - --metro: not a setting of Cherry Servers; leave it out'])
})

test('the error about an unknown cloud provider names the known ones, together with other problems', () => {
  const lines = linesOf({ '--cloud-provider': 'aws', '--secure-port': '0', '--cloud-config': '/nowhere.json' })
  assert.equal(lines, [
    '  - cloud provider: --cloud-provider is "aws"; it must be equinixmetal, equinix-metal, packet, cherryservers, cherry-servers, hetzner, hcloud, scaleway or phoenixnap',
    '  - configuration file: /nowhere.json does not exist; it must be a readable file with one JSON object, such as {"projectID": "..."}',
    '  - health and metrics port: --secure-port is "0"; it must be a whole number from 1 to 65535',
  ])
})

test('one error lists the problems of the provider, the process and the file', () => {
  const flags = { ...provider, '--cloud-config': '/nowhere.json', '--local-asn': 'x', '--leader-elect': 'x' }
  const text = linesOf(flags, {}).join('\n')
  for (const part of ['/nowhere.json', '--local-asn', '--leader-elect']) assert.match(text, part)
  assert.not.match(text, 'not set', 'the file may have them')
})

test('the configuration file is read, and an unknown field in it causes a warning', () => {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'))
  try {
    const path = join(folder, 'cloud-sa.json')
    writeFileSync(path, '{"apiKey": "hidden", "projectId": "p", "facilty": "x", "loadbalancer": "kube-vip://"}')
    for (const flag of ['--cloud-config', '--provider-config']) {
      const settings = serveWith({ [flag]: path }, {})
      assert.is(settings.cloud.settings.apiKey.reveal(), 'hidden')
      assert.equal(settings.cloud.settings.loadBalancer, { kind: 'kube-vip' })
      assert.equal(settings.warnings, [
        `the field "facilty" of ${path} is ignored, because there is no such setting; did you mean facility?`,
      ])
      assert.not.match(inspect(settings, { depth: null, showHidden: true }) + JSON.stringify(settings), 'hidden')
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

const orders: [name: string, flags: Record<string, string>, says: RegExp][] = [
  ['a lease as short as its renew deadline', { '--leader-elect-lease-duration': '5s' }, /lease duration: 5s/],
  ['a renew deadline near the retry period', { '--leader-elect-retry-period': '4500ms' }, /renew deadline: 5s .* 4.5s/],
]
for (const [name, flags, says] of orders) {
  test(`${name} is refused, unless there is no election`, () => {
    assert.match(linesOf({ ...provider, ...flags }).join('\n'), says)
    assert.equal(linesOf({ ...provider, ...flags, '--leader-elect': 'false' }), [])
  })
}

const guardianTimes: [name: string, flags: Record<string, string>, says: RegExp][] = [
  [
    'as short as its renew deadline',
    { '--control-plane-lease-duration': '2s' },
    /2s is not longer than the control-plane renew/,
  ],
  ['too short for a write', { '--control-plane-retry-period': '1s' }, /lease duration: 3s leaves no time for a write/],
  [
    'renewed too seldom',
    { '--control-plane-retry-period': '2s', '--control-plane-lease-duration': '9s' },
    /renew deadline: 2s is not longer than 1.2 times the control-plane retry period of 2s; --control-plane-renew-/,
  ],
]
for (const [name, flags, says] of guardianTimes) {
  test(`a lease of the guardians that is ${name} is refused`, () => {
    assert.match(linesOf({ ...provider, ...flags }).join('\n'), says)
  })
}

test('a longer lease of the guardians is accepted, and an API server must be an https URL', () => {
  const longer = {
    '--control-plane-lease-duration': '5s',
    '--control-plane-renew-deadline': '4s',
    '--control-plane-retry-period': '1s',
  }
  assert.equal(linesOf({ ...provider, ...longer, '--api-server': 'https://192.0.2.7:6443' }), [])
  assert.match(linesOf({ ...provider, '--api-server': 'http://127.0.0.1:6443' }).join(), 'API server: ')
})

test('an unknown flag is refused', () => {
  assert.equal(linesOf({ ...provider, '--of-another-dialect': 'x' }), [
    '  - --of-another-dialect: not a setting of Equinix Metal; leave it out',
  ])
})

for (const [flag, reason] of Object.entries(ignoredFlags)) {
  test(`${flag} is accepted with a warning that says why it has no effect`, () => {
    assert.equal(serveWith({ [flag]: 'true' }).warnings, [`${flag} has no effect: ${reason}`])
  })
}

test('an upstream flag with one possible value is accepted with it and refused with another', () => {
  assert.equal(serveWith({ '--controllers': '*', '--leader-elect-resource-lock': 'leases' }).warnings, [])
  assert.match(linesOf({ ...provider, '--leader-elect-resource-lock': 'endpoints' }).join(), 'must be "leases"')
})

for (const [given, left] of [
  ['*', []],
  ['*,-cloud-node,-cloud-node-lifecycle', ['cloud-node', 'cloud-node-lifecycle']],
  ['*,-cloud-node-lifecycle-controller', ['cloud-node-lifecycle']],
  ['*,-route', []],
] as const)
  test(`--controllers=${given} leaves ${left.length} controllers to another program`, () => {
    assert.equal(serveWith({ '--controllers': given }).process.leftControllers, left)
  })

for (const given of ['-service', '*,-service', 'cloud-node', '*,-cloud-nodes'])
  test(`--controllers=${given} is refused`, () => {
    assert.match(linesOf({ ...provider, '--controllers': given }).join(), '"*,-cloud-node,-cloud-node-lifecycle" where')
  })

test('no flag has two meanings, no two settings share an environment variable or a field', () => {
  for (const { table } of dialects) {
    const rows = [processSettings, table].flatMap((part: SettingsTable) => Object.values(part))
    const names = [
      ...rows.flatMap(({ flag = [], aliases = [] }) => [flag, aliases].flat()),
      ...Object.keys(ignoredFlags),
      ...rows.flatMap(({ env: variable = [], otherEnv = [] }) => [variable, otherEnv].flat()),
      ...rows.flatMap(({ field = [] }) => [field].flat().map((name) => name.toLowerCase())),
    ]
    assert.equal(names.length, new Set(names).size)
  }
})

test('the command line has every setting of the process', () => {
  // The chart passes on what the one list has, and `serve` has flags for the other.
  assert.equal(
    processSections.flatMap(({ table }) => Object.keys(table)),
    Object.keys(processSettings),
  )
})

const page = '--status-page-address'
const clashes: [flags: Record<string, string>, problem: RegExp | undefined][] = [
  [{ '--secure-port': '9443', '--webhook-secure-port': '9443' }, /health and metrics port.* port 9443.*the webhooks/],
  [{ '--secure-port': '9443', '--webhook-secure-port': '9443', '--only': 'webhooks' }, /port 9443.*the webhooks/],
  [{ '--secure-port': '9443', '--webhook-secure-port': '9443', '--only': 'controllers' }, undefined],
  [{ '--secure-port': '9443', [page]: '127.0.0.1:9443' }, /status page address.* port 9443.*health and metrics/],
  [{ '--webhook-secure-port': '9443', [page]: '127.0.0.1:9443' }, /status page address.* port 9443.*the webhooks/],
  [{ [page]: '127.0.0.1:9443' }, undefined],
]
for (const [flags, problem] of clashes)
  test(`${JSON.stringify(flags)} is ${problem ? 'refused' : 'accepted'}`, () => {
    if (problem) assert.throws(() => serveWith(flags), problem)
    else serveWith(flags)
  })

test.run()
