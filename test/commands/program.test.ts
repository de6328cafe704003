import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TakeoverApplySettings, TakeoverUndoSettings } from '../../commands/settings/takeover-apply.ts'
import { run } from '../../commands/run.ts'
import type {
  CleanupSettings,
  DoctorSettings,
  InstallSettings,
  TakeoverPlanSettings,
} from '../../commands/settings/commands.ts'
import { cleanupSettings, installSettings } from '../../commands/settings/commands.ts'
import { serveSections } from '../../commands/settings/serve.ts'
import type { ServeSettings } from '../../commands/settings/serve.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { metallbConfigMapOf } from '../../announcers/metallb/scheme.ts'

const env = { METAL_API_KEY: 'hidden', METAL_PROJECT_ID: 'p' }

/** A command line carried out without a process: what it printed, what it called, how it ended. */
async function typed(line: string | string[], changes: Partial<Parameters<typeof run>[1]> = {}) {
  const seen: {
    serve?: ServeSettings
    install?: InstallSettings
    cleanup?: CleanupSettings
    doctor?: DoctorSettings
    plan?: TakeoverPlanSettings
    apply?: TakeoverApplySettings
    undo?: TakeoverUndoSettings
  } = {}
  let out = ''
  let err = ''
  const code = await run(typeof line === 'string' ? line.split(' ').filter(Boolean) : line, {
    serve: async (settings) => void (seen.serve = settings),
    install: async (settings) => void (seen.install = settings),
    cleanup: async (settings) => void (seen.cleanup = settings),
    doctor: async (settings) => {
      seen.doctor = settings
      return 2
    },
    takeoverApply: async (settings) => {
      seen.apply = settings
      return 1
    },
    takeoverUndo: async (settings) => {
      seen.undo = settings
      return 1
    },
    takeoverPlan: async (settings) => {
      seen.plan = settings
      return 1
    },
    version: '1.2.3',
    env,
    print: (text) => void (out += text),
    printError: (text) => void (err += text),
    ...changes,
  })
  return { code, out, err, ...seen }
}

test("a predecessor's arguments start serve as they are", async () => {
  const { code, err, serve } = await typed(
    '--cloud-provider=equinixmetal --leader-elect=true --authentication-skip-lookup=true --v=2 ' +
      '--allow-untagged-cloud --configure-cloud-routes=false --cluster-cidr 10.0.0.0/8 --kubeconfig=/etc/kubeconfig',
  )
  assert.equal([code, err], [0, ''])
  assert.equal(
    [serve?.process.leaderElect, serve?.process.verbosity, serve?.process.kubeconfig],
    [true, 2, '/etc/kubeconfig'],
  )
  assert.equal(
    serve?.warnings.map((warning) => warning.split(' ')[0]),
    ['--allow-untagged-cloud', '--authentication-skip-lookup', '--cluster-cidr', '--configure-cloud-routes'],
  )
})

test('takeover apply takes the flags of its plan as they are, takeover undo only where the cluster is', async () => {
  const { code, err, apply } = await typed('takeover apply --max-addresses=500 --webhook-url=https://192.0.2.1:10260')
  assert.equal([code, err], [1, ''])
  assert.equal(
    [apply?.flags, apply?.webhookUrl?.toString(), apply?.output, apply?.patienceMs],
    [{ '--max-addresses': '500' }, 'https://192.0.2.1:10260', 'text', 600_000],
  )
  const { undo } = await typed('takeover undo -o json --namespace=eip --patience=1m')
  assert.equal([undo?.namespace, undo?.output, undo?.patienceMs], ['eip', 'json', 60_000])
  assert.is((await typed('takeover undo --max-addresses=5')).undo, undefined)
})

test('takeover plan needs no setting, takes those of serve as flags, and its exit code is kept', async () => {
  const { code, err, plan } = await typed('takeover plan --max-addresses=500 --write=files -o json')
  assert.equal([code, err], [1, ''])
  assert.equal(plan, {
    output: 'json',
    write: 'files',
    flags: { '--max-addresses': '500' },
  })
  assert.is((await typed('takeover plan')).plan?.output, 'text')
  const secret = await typed('takeover plan --api-key=very-secret')
  assert.is(secret.code, 1)
  assert.not.match(secret.err, 'very-secret')
})

test('doctor needs no setting, takes those of serve as flags, and its exit code is kept', async () => {
  const { code, err, doctor } = await typed('doctor --cloud-provider=equinixmetal --allow-untagged-cloud -o json')
  const flags = { '--cloud-provider': 'equinixmetal', '--allow-untagged-cloud': 'true' }
  assert.equal([code, err, doctor], [2, '', { output: 'json', allowUnknown: false, flags }])
  const plain = { output: 'text', allowUnknown: true, flags: {} }
  assert.equal((await typed('doctor --allow-unknown')).doctor, plain)
  const wrong = await typed('doctor --cloud-provider=equinixmetal --output=xml')
  assert.is(wrong.code, 1)
  assert.match(wrong.err, 'output: --output is "xml"; it must be text or json')
})

test("the arguments of the predecessor's manifest name a file, and the error says that it is missing", async () => {
  const { code, err } = await typed(
    '--cloud-provider=equinixmetal --leader-elect=true --authentication-skip-lookup=true --cloud-config=/nowhere/cloud-sa.json',
    { env: {} },
  )
  assert.is(code, 1)
  assert.match(err, /^eip-admission: 1 setting is wrong:\n {2}- configuration file: \/nowhere\/cloud-sa.json does not/)
  assert.not.match(err, /\n\s+at /)
})

test("the oldest predecessor's arguments start serve as they are", async () => {
  const { code, err, serve } = await typed(
    '--cloud-provider=packet --leader-elect=false --authentication-skip-lookup=true --allow-untagged-cloud=true --v=3',
    { env: { PACKET_API_KEY: 'hidden', PACKET_PROJECT_ID: 'p', KUBECONFIG: '/etc/kubeconfig' } },
  )
  assert.equal([code, err], [0, ''])
  assert.equal(
    [serve?.cloud.dialect.name, serve?.process.leaderElect, serve?.process.kubeconfig],
    ['packet', false, '/etc/kubeconfig'],
  )
})

const booleans: [line: string, leaderElect: boolean, verbosity: number][] = [
  ['--leader-elect', true, 0],
  ['--leader-elect --v 3', true, 3],
  ['--leader-elect=false', false, 0],
  ['--leader-elect=False --v=1', false, 1],
  ['--leader-elect=true', true, 0],
  ['--leader-elect=false --leader-elect=true', true, 0],
]
for (const [line, leaderElect, verbosity] of booleans) {
  test(`${line} is read as Go reads it`, async () => {
    const { serve } = await typed(`serve --cloud-provider=equinixmetal ${line}`)
    assert.equal([serve?.process.leaderElect, serve?.process.verbosity], [leaderElect, verbosity])
  })
}

test('a list may be given in several flags', async () => {
  const { serve } = await typed('serve --cloud-provider=equinixmetal --exclude-namespaces a,b --exclude-namespaces=c')
  assert.equal(serve?.cloud.settings.excludedNamespaces, ['a', 'b', 'c'])
})

test('install reads the ConfigMap of MetalLB where serve reads it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-'))
  const file = join(dir, 'cloud-sa.json')
  writeFileSync(file, '{"apiKey":"hidden","projectID":"p","loadBalancer":"metallb:///lb/peers"}')
  const placeOf = async (line: string, vars = {}): Promise<unknown> => {
    const { install, err } = await typed(`install ${line}`, { env: vars })
    return install ? metallbConfigMapOf(install.loadBalancer, install.metallbConfigMap) : err
  }
  assert.equal(await placeOf(''), { namespace: undefined, name: 'config' })
  assert.equal(await placeOf('--loadbalancer metallb:///lb'), { namespace: 'lb', name: 'config' })
  for (const name of ['METAL_LOAD_BALANCER', 'PACKET_LOAD_BALANCER', 'CHERRY_LOAD_BALANCER'])
    assert.equal(await placeOf('', { [name]: 'metallb:///lb/peers' }), { namespace: 'lb', name: 'peers' })
  assert.equal(await placeOf(`--cloud-config=${file}`), { namespace: 'lb', name: 'peers' })
  assert.equal(await placeOf(`--cloud-config=${file} --metallb-configmap=mine`), { namespace: 'lb', name: 'mine' })
  for (const other of ['kube-vip://', 'calico:///', 'calico:///kube-system'])
    assert.equal(await placeOf(`--loadbalancer ${other}`), { namespace: undefined, name: 'config' }, other)
  assert.match(String(await placeOf('--cloud-config=/nowhere')), 'does not exist')
  assert.match(String(await placeOf('--loadbalancer metallb://lb')), 'three slashes')
  rmSync(dir, { recursive: true })
})

test('install and cleanup get their settings', async () => {
  const line = 'install --kubeconfig k --webhook-url=https://10.0.0.1:10260 --dry-run --namespace mine'
  assert.equal((await typed(line)).install, {
    kubeconfig: 'k',
    webhookUrl: 'https://10.0.0.1:10260',
    dryRun: true,
    overwrite: false,
    namespace: 'mine',
    leaseNamespace: 'kube-system',
    leaseName: 'cloud-controller-manager',
    metallbConfigMap: undefined,
    loadBalancer: undefined,
    cloudConfig: undefined,
    loadBalancerManifest: undefined,
    loadBalancerClasses: ['none'],
  })
  assert.equal((await typed('install', { env: { KUBECONFIG: 'k' } })).install, {
    kubeconfig: 'k',
    webhookUrl: undefined,
    dryRun: false,
    overwrite: false,
    namespace: 'eip-admission',
    leaseNamespace: 'kube-system',
    leaseName: 'cloud-controller-manager',
    metallbConfigMap: undefined,
    loadBalancer: undefined,
    cloudConfig: undefined,
    loadBalancerManifest: undefined,
    loadBalancerClasses: ['none'],
  })
  assert.equal((await typed('cleanup --kubeconfig k --yes')).cleanup, {
    kubeconfig: 'k',
    yes: true,
    apiServer: undefined,
  })
  assert.equal((await typed('cleanup --kubeconfig k')).cleanup, { kubeconfig: 'k', yes: false, apiServer: undefined })
})

test('install with a webhook that is not https is refused', async () => {
  const { code, err, install } = await typed('install --webhook-url http://10.0.0.1')
  assert.equal([code, install], [1, undefined])
  assert.match(err, '--webhook-url is "http://10.0.0.1"; it must be an https:// URL')
})

for (const line of ['version', '--version']) {
  test(`${line} prints the version`, async () => {
    assert.equal(await typed(line), { code: 0, out: '1.2.3\n', err: '' })
  })
}

const slips: [line: string, suggestion: string][] = [
  ['sevre', '(Did you mean serve?)'],
  ['serve --metor=da', '(Did you mean --metro?)'],
  ['serve --metor da', '(Did you mean --metro?)'],
  ['--cloud-provder=equinixmetal', '(Did you mean --cloud-provider?)'],
  ['install --webhok-url=https://x', '(Did you mean --webhook-url?)'],
  ['serve --nothing-like-it', 'eip-admission serve --help lists the flags.'],
  ['nothing-like-it', 'eip-admission --help lists the commands.'],
  ['serve --metro', "option '--metro <code>' argument missing"],
  ['serve extra', 'too many arguments'],
]
for (const [line, suggestion] of slips) {
  test(`${line} is refused with a suggestion`, async () => {
    const { code, out, err, serve } = await typed(line)
    assert.equal([code, out, serve], [1, '', undefined])
    assert.ok(err.includes(suggestion), err)
  })
}

test('the value of an unknown flag, which may be a secret, is not printed', async () => {
  const { code, err } = await typed('serve --api-key=hidden')
  assert.is(code, 1)
  assert.match(err, "unknown option '--api-key'")
  assert.not.match(err, 'hidden')
})

test('without arguments the help is printed and the exit code is 1', async () => {
  const { code, out, err } = await typed('')
  assert.equal([code, out], [1, ''])
  assert.match(err, 'Usage: eip-admission')
})

test('an error of a command is thrown as it is', async () => {
  const broken = new Error('broken')
  try {
    await typed('version', {
      print: () => {
        throw broken
      },
    })
    assert.unreachable()
  } catch (error) {
    assert.is(error, broken)
  }
})

const helps: [line: string, tables: SettingsTable[]][] = [
  ['serve --help=all', serveSections.map(({ table }) => table)],
  ['install --help', [installSettings]],
  ['cleanup -h', [cleanupSettings]],
]
for (const [line, tables] of helps) {
  test(`${line} has each flag once, the required ones first, in 100 columns`, async () => {
    const { code, out } = await typed(line)
    assert.is(code, 0)
    const settings = tables.flatMap((table) => Object.values(table))
    for (const { flag } of settings) {
      const mentions = flag && out.match(new RegExp(`${flag}(?![-\\w])`, 'g'))
      assert.ok(mentions === undefined || mentions?.length === 1, `${flag} is there ${mentions?.length ?? 0} times`)
    }
    const [head = '', required = '', ...others] = out.split(/^(?=[A-Z].*:$)/m)
    const requiredSettings = settings.filter((row) => 'required' in row)
    if (requiredSettings.length > 0) assert.match(required, /^Required:/)
    for (const setting of requiredSettings) {
      assert.ok(
        setting.flag === undefined
          ? head.replace(/\s+/g, ' ').includes(`${setting.env} (required)`)
          : required.includes(setting.flag),
      )
    }
    assert.ok(others.length > 0)
    assert.ok(out.split('\n').every((text) => text.length <= 100))
  })
}

test('the help of serve shows the default of a shared flag for each cloud', async () => {
  const { out } = await typed('serve --help=all')
  const helpOf = (flag: string) =>
    out
      .split(/\n(?= {2}-)|\n\n/)
      .find((part) => part.startsWith(`  ${flag} `))
      ?.replace(/\s+/g, ' ')
  assert.match(
    helpOf('--peer-asn') ?? '',
    /Packet: default: the ASN that the API reports, else 65530, env: PACKET_PEER_ASN phoenixNAP: default: 65400, env: PNAP/,
  )
  assert.match(
    helpOf('--local-asn') ?? '',
    /Equinix Metal: default: 65000, env: METAL_LOCAL_ASN Packet: default: 65000, env: P/,
  )
  assert.match(
    helpOf('--sweep-interval') ?? '',
    /default: 5m env: EIP_SWEEP_INTERVAL Packet: default: 30s, env: PACKET_S/,
  )
})

for (const command of ['plan', 'apply'])
  test(`the help of takeover ${command} shows only variables that it reads`, async () => {
    const { out } = await typed(`takeover ${command} --help=all`)
    const shown = [...out.matchAll(/env: (\w+)/g)].map(([, name]) => name)
    assert.equal(new Set(shown), new Set(['KUBECONFIG', 'POD_NAMESPACE']))
    assert.match(out, '--cluster-id <id>')
  })

test('the help of serve shows neither flags without effect nor flags for secrets', async () => {
  const { out } = await typed('serve --help=all')
  for (const flag of ['--authentication-skip-lookup', '--provider-config', '--api-key', '--bgp-pass ']) {
    assert.not.match(out, flag)
  }
})

const helpOfClouds: [line: string, has: string[], lacks: string[]][] = [
  ['serve --help', ['--cloud-provider', '--max-addresses', '--help=all'], ['--metro', '--region', '--peer-asn']],
  ['help serve', ['--cloud-provider'], ['--metro']],
  ['serve --cloud-provider=hetzner --help', ['--location'], ['--metro', '--peer-asn', 'Several clouds']],
  ['serve --cloud-provider equinixmetal --help', ['--metro', '--local-asn', 'METAL_LOCAL_ASN'], ['--region', 'PNAP_']],
  ['--cloud-provider=equinixmetal --help', ['--metro'], ['--region']],
  ['serve --cloud-provider=nobody --help', ['--max-addresses'], ['--metro']],
  ['doctor --help', ['--output', '--kubeconfig', '--cloud-provider', '--help=all'], ['--max-addresses', '--metro']],
  ['takeover plan --help', ['--kubeconfig', '--help=all'], ['--max-addresses', '--metro']],
]
for (const [line, has, lacks] of helpOfClouds)
  test(`${line} shows the flags of the cloud that it names, and no other`, async () => {
    const { code, out } = await typed(line)
    assert.is(code, 0)
    for (const text of has) assert.ok(out.includes(text), `${text} is not in:\n${out}`)
    for (const text of lacks) assert.not.ok(out.includes(text), `${text} is in:\n${out}`)
  })

test.run()
