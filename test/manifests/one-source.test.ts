// The chart, the kustomizations and `eip-admission install` come from one source. Here helm and
// kubectl render them, and every difference is a failure.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { type ValueTree, isMap } from '../../manifests/choices.ts'
import { announcerRights } from '../../announcers/object-rights.ts'
import { defaultValues } from '../../manifests/generate/chart-values.ts'
import { guardedBy, installedParts } from '../../manifests/generate/files.ts'
import { inClusterParts } from '../../manifests/in-cluster.ts'
import { installObjects } from '../../manifests/install.ts'
import { knownChoices } from '../../manifests/known-choices.ts'
import { names } from '../../settings/installed-names.ts'
import { controlPlanePrograms } from '../../sandbox/control-plane/build.ts'
import { chartFolder, runHelm } from '../../sandbox/run-helm.ts'
import { type StoppableWorkload, isStopped } from '../../commands/takeover/workloads.ts'
import { dialects } from '../../clouds/dialects.ts'
import type { Setting } from '../../settings/setting.ts'
import { dialectFacts } from '../../commands/settings/chart-facts.ts'
import manifest from '../../package.json' with { type: 'json' }
import { webhookIdentities as webhooks } from '../../webhooks/webhook.ts'
import { cases, cherry } from './chart-cases.ts'
import { byName, objectsIn, renderChart, renderNotes } from './render.ts'

const root = join(import.meta.dirname, '..', '..')
const pathSecret = 'known-to-this-test'
const release = {
  namespace: 'eip-admission',
  name: 'eip-admission',
  manager: 'Helm',
  version: manifest.version,
  chart: `eip-admission-${manifest.version}`,
}

/** The objects that the chart installs with these values, by our own reading of them. */
function expected(values: ValueTree): object[] {
  const all = merged(defaultValues(), values)
  const parts = inClusterParts(knownChoices(all, release, pathSecret), webhooks, guardedBy(dialectFacts()))
  return installedParts(parts, all, 'helm').flatMap(({ objects }) => objects)
}

/** Values over defaults, as Helm merges them: maps by their entries, all else as a whole. */
function merged(below: ValueTree, above: ValueTree): ValueTree {
  const result = { ...below }
  for (const [name, value] of Object.entries(above)) {
    const under = result[name]
    result[name] = isMap(under) && isMap(value) ? merged(under, value) : value
  }
  return result
}

for (const [name, values] of Object.entries(cases)) {
  test(`helm renders what the code describes: ${name}`, async () => {
    const all = merged(values, { webhooks: { pathSecret } })
    assert.equal(byName(await renderChart(all)), byName(expected(all)))
  })
}

test('the chart has every object of eip-admission install, and each is the same', async () => {
  const rights = {
    leaseNamespace: 'kube-system',
    leaseName: 'cloud-controller-manager',
    announcing: announcerRights({ loadBalancer: undefined, metallbConfigMap: undefined }),
  }
  const installed = byName(installObjects({ namespace: 'eip-admission', pathSecret, webhooks, ...rights }))
  const charted = byName(await renderChart({ ...cherry, webhooks: { pathSecret } }))
  for (const [key, object] of Object.entries(installed)) {
    // Helm creates the namespace, and only a Deployment has a named port.
    if (key.startsWith('Namespace')) continue
    const same = charted[key] as ValueTree
    if (key.startsWith('Service ')) assert.equal(portsOf(same), [{ ...portsOf(object)[0], targetPort: 'webhook' }])
    else assert.equal(withoutMetadata(same), withoutMetadata(object as ValueTree), key)
  }
  assert.ok(Object.keys(installed).length > 12)
})

function portsOf(object: unknown): ValueTree[] {
  return (object as { spec: { ports: ValueTree[] } }).spec.ports
}

function withoutMetadata(object: ValueTree): ValueTree {
  return { ...object, metadata: undefined }
}

test('the DaemonSet of the guide runs on the nodes of the chart, whatever value their label has', async () => {
  const guide = readFileSync(join(root, 'docs', 'guides', 'control-plane-address.md'), 'utf8')
  const [, text = ''] = /^```yaml\n(apiVersion: apps\/v1\n[^]*?)^```$/m.exec(guide) ?? []
  const charted = byName(await renderChart({ ...cherry, settings: { 'fip-tag': 'api' }, webhooks: { pathSecret } }))
  const key = 'DaemonSet eip-admission/eip-admission-control-plane'
  assert.equal(placeOf(byName(objectsIn(text))[key]), placeOf(charted[key]))
})

function placeOf(object: unknown): object {
  const { affinity, nodeSelector, tolerations } = (object as { spec: { template: { spec: ValueTree } } }).spec.template
    .spec
  assert.ok(affinity)
  return { affinity, nodeSelector, tolerations }
}

for (const { name } of dialectFacts()) {
  test(`the overlay differs from the chart only where Helm is needed: ${name}`, async () => {
    const kubectl = join(await controlPlanePrograms(), 'kubectl')
    const overlay = join(root, 'manifests', 'kustomize', 'overlays', name)
    const { stdout } = await promisify(execFile)(kubectl, ['kustomize', overlay], { maxBuffer: 2 ** 24 })
    const applied = byName(objectsIn(stdout))
    const provider = dialectFacts().find((dialect) => dialect.name === name)?.providers[0]
    const charted = byName(
      await renderChart({ cloudProvider: provider, crds: { keep: false }, webhooks: { pathSecret: 'pending' } }),
    )
    const helmOnly = Object.keys(charted).filter((key) => !(key in applied))
    assert.equal(helmOnly, [
      'ClusterRole /eip-admission-cleanup',
      'ClusterRoleBinding /eip-admission-cleanup',
      'Job eip-admission/eip-admission-cleanup',
      'Pod eip-admission/eip-admission-test',
      'Secret eip-admission/eip-admission-webhook',
      'ServiceAccount eip-admission/eip-admission-cleanup',
    ])
    for (const [key, object] of Object.entries(applied)) {
      if (key.startsWith('Namespace')) continue
      assert.is(JSON.stringify(object), withoutHelm(sameOrder(charted[key], object)), key)
    }
  })
}

test('kubectl apply -k has the monitoring of the chart', async () => {
  const kubectl = join(await controlPlanePrograms(), 'kubectl')
  const folder = join(root, 'manifests', 'monitoring')
  const { stdout } = await promisify(execFile)(kubectl, ['kustomize', folder], { maxBuffer: 2 ** 24 })
  const enabled = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, dashboard: { enabled: true } }
  const charted = byName(await renderChart({ ...cherry, ...enabled, settings: { 'fip-tag': 'api' } }))
  const applied = byName(objectsIn(stdout))
  assert.equal(Object.keys(applied), [
    'ConfigMap eip-admission/eip-admission-dashboard',
    'PodMonitor eip-admission/eip-admission-control-plane',
    'PrometheusRule eip-admission/eip-admission',
    'ServiceMonitor eip-admission/eip-admission',
  ])
  for (const [key, object] of Object.entries(applied))
    assert.is(JSON.stringify(object), withoutHelm(sameOrder(charted[key], object)))
})

/** The text of an object of the chart with the labels that it has without Helm. */
function withoutHelm(object: unknown): string {
  return JSON.stringify(object)
    .replaceAll('"Helm"', '"kubectl"')
    .replaceAll(/,"helm.sh\/chart":"[^"]*"/g, '')
}

for (const { name, providers, rows } of dialects) {
  test(`the notes of the chart have the fields that the Secret of the provider needs: ${name}`, async () => {
    const required = Object.values<Setting<unknown>>(rows).filter((row) => 'required' in row)
    assert.ok(required.some(({ flag }) => flag === undefined))
    for (const cloudProvider of providers) {
      const notes = await renderNotes({ cloudProvider })
      const [, example = ''] = /--from-literal=cloud-sa\.json='(.*)'$/m.exec(notes) ?? []
      assert.equal(
        Object.keys(JSON.parse(example) as object),
        required.map(({ field }) => field),
      )
    }
  })
}

test('the notes of the chart say that load balancing is off, where it is', async () => {
  const off = /Load balancing is off: no Service gets an address/
  assert.match(await renderNotes({ cloudProvider: 'hetzner' }), off)
  const chosen = await renderNotes({ cloudProvider: 'hetzner', settings: { loadbalancer: 'assign:///' } })
  assert.match(chosen, /Each Service of type LoadBalancer gets its address/)
  assert.not.match(chosen, off)
  assert.not.match(await renderNotes({ cloudProvider: 'packet' }), off)
})

const guardians = 'eip-admission/eip-admission-control-plane'

/** The setting of each cloud by which it is asked for the control-plane address. phoenixNAP moves no address. */
const controlPlaneSettings: Record<string, string | undefined> = {
  'cherry-servers': 'fip-tag',
  'equinix-metal': 'eip-tag',
  packet: 'eip-tag',
  hetzner: 'fip-label',
  scaleway: 'fip-tag',
  phoenixnap: undefined,
}

for (const { name, providers } of dialectFacts()) {
  test(`the chart has guardians where the control-plane address is set: ${name}`, async () => {
    assert.ok(name in controlPlaneSettings)
    const setting = controlPlaneSettings[name]
    const values = { cloudProvider: providers[0], serviceMonitor: { enabled: true } }
    const ofGuardians = async (settings: ValueTree) =>
      Object.keys(byName(await renderChart({ ...values, settings }))).filter((key) =>
        [`DaemonSet ${guardians}`, `PodMonitor ${guardians}`].includes(key),
      )
    assert.equal(await ofGuardians({}), [])
    if (setting === undefined) return
    assert.equal(await ofGuardians({ [setting]: 'k8s=api' }), [`DaemonSet ${guardians}`, `PodMonitor ${guardians}`])
    const onePort = { ...values, settings: { [setting]: 'k8s=api' }, controlPlane: { securePort: 6443 } }
    assert.match(await refusal(onePort), /controlPlane\.securePort and controlPlane\.apiServerPort are both 6443/)
  })
}

test('a chart without replicas runs no guardian: a predecessor may still move the address', async () => {
  const values = { ...cherry, settings: { 'fip-tag': 'api' } }
  const daemonSet = async (replicas: number | null) =>
    byName(await renderChart({ ...values, replicas }))[`DaemonSet ${guardians}`] as StoppableWorkload
  assert.ok(isStopped(await daemonSet(0)))
  // Null leaves the number to another program, such as an autoscaler.
  for (const replicas of [1, null]) assert.not.ok(isStopped(await daemonSet(replicas)))
})

test('the rules file and the dashboard file are what the objects hold', () => {
  const folder = join(root, 'manifests', 'monitoring')
  const objects = objectsIn(readFileSync(join(folder, 'objects.yaml'), 'utf8'))
  const rules = objectsIn(readFileSync(join(folder, 'eip-admission.rules.yaml'), 'utf8'))
  const of = (kind: string) => objects.find((object) => object.kind === kind)
  assert.equal(of('PrometheusRule')?.['spec'], rules[0])
  const { data } = of('ConfigMap') as unknown as { data: Record<string, string> }
  const file: unknown = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8'))
  assert.equal(JSON.parse(data['eip-admission.json'] ?? ''), file)
})

/** The same value with its entries in the order of another one. */
function sameOrder(value: unknown, like: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(like)) return value.map((item, n) => sameOrder(item, like[n]))
  if (!isMap(value) || !isMap(like)) return value
  const names = [...Object.keys(like).filter((name) => name in value), ...Object.keys(value)]
  return Object.fromEntries(names.map((name) => [name, sameOrder(value[name], like[name])]))
}

test('Helm makes a new secret path, the same in every object of one rendering, that the API server accepts', async () => {
  const segments = await Promise.all([1, 2].map(async () => segmentsOf(await renderChart(cherry))))
  const [first = [], second = []] = segments
  assert.ok(first.length > 4)
  assert.is(new Set(first).size, 1)
  assert.match(first[0] ?? '', /^[a-z0-9]{32}$/)
  assert.is.not(first[0], second[0])
})

/** The segment that the Secret holds, and that of every webhook. */
function segmentsOf(objects: object[]): string[] {
  const text = JSON.stringify(objects)
  const [, stored = ''] = /"data":{"path":"([^"]+)"/.exec(text) ?? []
  const paths = [...text.matchAll(/"path":"\/([^/"]+)\/[^"]+"/g)].map(([, segment = '']) => segment)
  return [Buffer.from(stored, 'base64').toString(), ...paths]
}

test('objects of the user are templates, as maps and as texts', async () => {
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: '{{ .Release.Namespace }}' },
  }
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: b, namespace: "{{ .Release.Namespace }}" }'
  const charted = byName(await renderChart({ ...cherry, extraObjects: [configMap, text] }))
  for (const name of ['a', 'b'])
    assert.equal(charted[`ConfigMap eip-admission/${name}`], {
      ...configMap,
      metadata: { name, namespace: 'eip-admission' },
    })
})

test('the package of the chart has its license, and each link of its README works alone', () => {
  const read = (file: string) => readFileSync(join(chartFolder, file), 'utf8')
  assert.is(read('LICENSE'), readFileSync(join(root, 'LICENSE'), 'utf8'))
  const links = [...read('README.md').matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
  assert.ok(links.length > 2)
  for (const link of links) assert.ok(URL.canParse(link), link)
})

for (const values of [[], ['--set', 'cloudProvider=packet']])
  test(`helm lint finds nothing, not even a recommendation: ${values.join(' ') || 'the defaults'}`, async () => {
    const linted = await runHelm(['lint', '--strict', chartFolder, ...values])
    assert.match(linted, /0 chart\(s\) failed/)
    assert.not.match(linted, /recommended/)
  })

/** The schema by which `ct lint` reads Chart.yaml: what it requires, and what else it knows. */
const chartSchema = {
  required: ['name', 'home', 'version', 'apiVersion', 'description'],
  known: [
    'appVersion',
    'keywords',
    'sources',
    'maintainers',
    'icon',
    'kubeVersion',
    'annotations',
    'type',
    'deprecated',
  ],
}

test('Chart.yaml and values.yaml keep the rules of chart-testing', () => {
  const chart = parse(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8')) as ValueTree
  const { required, known } = chartSchema
  for (const name of required) assert.type(chart[name], 'string', name)
  assert.equal(
    Object.keys(chart).filter((name) => ![...required, ...known].includes(name)),
    [],
  )
  const { maintainers, annotations, keywords, sources } = chart as Record<string, Record<string, string>[]>
  assert.ok((maintainers ?? []).length > 0 && maintainers?.every(({ name }) => typeof name === 'string'))
  for (const text of [annotations ?? {}, keywords ?? [], sources ?? []].flatMap((of) => Object.values(of)))
    assert.type(text, 'string')
  for (const name of ['Chart.yaml', 'values.yaml']) {
    const text = readFileSync(join(chartFolder, name), 'utf8')
    assert.not.match(
      text,
      /[ \t]$|\t|\n{4}|^ *#[^ \n]/m,
      `${name}: blanks at an end, tabs, empty lines, or a comment without a blank`,
    )
    assert.match(text, /[^\n]\n$/, `${name} ends with one line break`)
  }
})

test('the icon of the chart is a file of the project', () => {
  const { icon } = parse(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8')) as { icon: string }
  const [, file = ''] = icon.split('/raw/main/')
  assert.match(readFileSync(join(root, file), 'utf8'), /^<svg xmlns=/)
})

test('the notes of the chart name the next three commands and the pages to read', async () => {
  const commandsOf = (notes: string) =>
    [...(notes.split('Next:')[1] ?? '').matchAll(/^ {2}((?:kubectl|helm) .*)$/gm)].map(([, line]) => line)
  const on = await renderNotes({ cloudProvider: 'hetzner', settings: { loadbalancer: 'assign:///' } })
  const off = await renderNotes({ cloudProvider: 'hetzner' })
  for (const notes of [on, off]) {
    assert.is(commandsOf(notes).length, 3, notes)
    for (const [, file = '', heading = ''] of notes.matchAll(/\/blob\/main\/([^#\s]+)#?(\S*)/g)) {
      const page = readFileSync(join(root, file), 'utf8')
      assert.match(page.toLowerCase(), new RegExp(`^#+ ${heading.replaceAll('-', ' ')}`, 'm'), file)
    }
  }
})

test('a certificate of cert-manager is for the names that the values add', async () => {
  const { 'cert-manager and webhooks at a URL': values = {} } = cases
  const { spec } = byName(await renderChart(values))[`Certificate eip-admission/${names.certificate}`] as {
    spec: { dnsNames: string[]; ipAddresses: string[] }
  }
  const host = 'eip-admission.eip-admission.svc'
  assert.equal(spec.dnsNames, [host, `${host}.cluster.local`, 'webhooks.example.com'])
  assert.equal(spec.ipAddresses, ['192.0.2.7'])
})

const refused: [string, ValueTree, RegExp][] = [
  ['no cloud', {}, /cloudProvider is required: set it to one of .*, cherryservers, .*, hetzner, /],
  ['an unknown cloud', { cloudProvider: 'aws' }, /cloudProvider/],
  ['a setting that nobody has', { ...cherry, settings: { regoin: 'LT' } }, /regoin/],
  ['a setting of another cloud', { ...cherry, settings: { metro: 'da' } }, /metro/],
  ['a value that the chart does not have', { ...cherry, replica: 3 }, /replica/],
  ['an alert that does not exist', { ...cherry, prometheusRule: { disabled: { NoSuch: true } } }, /NoSuch/],
  ['a setting that the chart sets itself', { ...cherry, settings: { namespace: 'x' } }, /namespace/],
  ['our label', { ...cherry, commonLabels: { 'app.kubernetes.io/name': 'x' } }, /app\.kubernetes\.io\/name/],
  [
    'announcing software that needs what the provider does not offer',
    { cloudProvider: 'hetzner', settings: { loadbalancer: 'cilium:///' } },
    /settings\/loadbalancer/,
  ],
  ['a port above the last one', { ...cherry, settings: { 'secure-port': '70000' } }, /secure-port/],
  [
    'one port for webhooks and metrics',
    { ...cherry, settings: { 'secure-port': '10260' } },
    /settings\.secure-port and settings\.webhook-secure-port are both 10260; set another port for one of them/,
  ],
  [
    'one port for the status page and metrics',
    { ...cherry, statusPage: { enabled: true, port: 10_258 } },
    /statusPage\.port and settings\.secure-port are both 10258/,
  ],
  [
    'one port of a host for the Deployment and the DaemonSet',
    { ...cherry, hostNetwork: true, settings: { 'fip-tag': 'api', 'secure-port': 10_268 } },
    /controlPlane\.securePort and settings\.secure-port are both 10268/,
  ],
  [
    "the API server's port for the DaemonSet",
    { ...cherry, settings: { 'fip-tag': 'api' }, controlPlane: { securePort: 6443 } },
    /controlPlane\.securePort and controlPlane\.apiServerPort are both 6443/,
  ],
  [
    'a URL of the webhooks that no certificate of cert-manager names',
    { ...cherry, certManager: { enabled: true }, webhooks: { url: 'https://192.0.2.7:10260' } },
    /webhooks\.url .*set certManager\.dnsNames or certManager\.ipAddresses/,
  ],
  ['a failure policy that does not exist', { ...cherry, webhooks: { failurePolicy: 'Warn' } }, /failurePolicy/],
]

for (const [name, values, message] of refused) {
  test(`helm refuses ${name}`, async () => {
    assert.match(await refusal(values), message)
  })
}

function refusal(values: ValueTree): Promise<string> {
  return renderChart(values).then(() => 'nothing was refused', String)
}

test.run()
