import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const root = join(import.meta.dirname, '..')

/** Files of clouds/ that code may import without knowing which clouds exist. */
const anyCloud = ['clouds/ports', 'clouds/dialect', 'clouds/cloud-choice.ts', 'clouds/dialects.ts']

/** Files of announcers/ that code may import without knowing which software runs. */
const anyAnnouncer = ['announcer', 'announcers', 'load-balancer-setting', 'setting', 'software'].map(
  (name) => `announcers/${name}.ts`,
)

/**
 * Which rooms, or folders of a room, a room may import besides itself and lib. The rooms are in their order, lowest
 * first: none imports from one after it.
 */
const law: Record<string, string[]> = {
  lib: [],
  kube: [],
  certs: ['kube'],
  settings: ['kube', 'certs'],
  announcers: ['kube', 'settings'],
  clouds: ['kube', 'settings', ...anyAnnouncer],
  telemetry: ['kube', 'certs', 'settings', 'clouds/ports'],
  ledger: ['kube', 'settings', ...anyAnnouncer, 'clouds/ports', 'telemetry'],
  webhooks: ['kube', 'certs', 'settings', 'clouds/ports', 'telemetry', 'ledger'],
  controllers: ['kube', 'settings', ...anyAnnouncer, 'clouds/ports', 'telemetry', 'ledger'],
  manifests: ['kube', 'settings', 'announcers/object-rights.ts', 'clouds/cloud-choice.ts', 'telemetry'],
  inspect: [
    'kube',
    'settings',
    'announcers',
    ...anyCloud,
    'telemetry',
    'ledger',
    'webhooks',
    'controllers',
    'manifests',
  ],
  commands: [
    'kube',
    'certs',
    'settings',
    'announcers',
    ...anyCloud,
    'clouds/http/proxy.ts',
    'ledger',
    'webhooks',
    'controllers',
    'manifests',
    'inspect',
  ],
  'kubectl-eip': [
    'kube',
    'settings',
    'clouds/ports',
    'clouds/cloud-choice.ts',
    'ledger',
    'webhooks',
    'inspect',
    'commands/doctor/doctor.ts',
    'package.json',
  ],
  'status-page': ['kube', 'settings', ...anyAnnouncer, 'clouds/ports', 'telemetry', 'ledger', 'controllers'],
  server: [
    'kube',
    'certs',
    'settings',
    'announcers',
    ...anyCloud,
    'clouds/http',
    'telemetry',
    'ledger',
    'webhooks',
    'controllers',
    'commands',
    'status-page',
    'package.json',
  ],
  packaging: [],
  // These rooms start the product by its public door, and know the names of installed objects. API servers get their
  // authority from the same code as webhooks.
  sandbox: ['settings/installed-names.ts', 'manifests/rbac.ts', 'packaging', 'certs/authority.ts'],
}

/**
 * The floors of a room, lowest first: a file imports only from its own floor and those before it. A floor is a folder or a
 * file of the room, or a list of them; every file of the room is on one floor. The floor with `*` has the files directly in
 * the room that no floor names. A room without folders has one floor.
 */
const floors: Record<string, (string | string[])[]> = {
  clouds: [
    'ports',
    'http',
    'dialect',
    globSync('clouds/*/provider.ts', { cwd: root }).map((file) => file.split('/')[1] ?? ''),
    'dialects.ts',
    'cloud-choice.ts',
  ],
  announcers: [
    ['announcer.ts', 'check.ts', 'setting.ts', 'software.ts'],
    'shared',
    ['assign.ts', 'empty.ts', 'kube-vip', 'metallb', 'cilium', 'calico'],
    'announcers.ts',
    ['load-balancer-setting.ts', 'object-rights.ts'],
  ],
  telemetry: [['events', 'metrics'], '*', 'event-recorders.ts', ['alerts', 'dashboard']],
  ledger: [
    'context.ts',
    'record',
    'cluster.ts',
    'identity',
    'want',
    'available',
    'claim',
    'release',
    'sweep',
    'users',
    'caches.ts',
    'own',
    'ledger-metrics.ts',
    'ledger.ts',
  ],
  controllers: [
    'loop',
    'facts',
    'dependencies.ts',
    'moves',
    ['announcing', 'nodes'],
    'assigning',
    'services',
    ['available', 'balancers', 'manifest', 'peering', 'predecessors', 'sweep'],
    'control-plane',
    'controllers.ts',
  ],
  manifests: ['*', 'generate'],
  commands: [
    ['command-deps.ts', 'settings'],
    ['options.ts', 'cleanup-left.ts', 'installed.ts'],
    'cleanup-changes.ts',
    ['install.ts', 'cleanup.ts'],
    'doctor',
    'takeover',
    'program.ts',
    'run.ts',
  ],
  'status-page': [['section.ts', 'html.ts'], 'sections', '*'],
  server: [
    ['log.ts', 'log-text-format.ts'],
    'reload',
    'cloud-connection.ts',
    'base.ts',
    'context.ts',
    ['dependencies.ts', 'handover.ts'],
    'leadership.ts',
    ['listeners', 'webhooks.ts'],
    'components.ts',
    'health-checks.ts',
    ['shown-page.ts', 'status-page-facts.ts'],
    ['serve.ts', 'serve-control-plane.ts'],
    'main.ts',
  ],
  sandbox: [
    ['*', 'clouds'],
    ['dialects.ts', 'go-programs.ts'],
    [
      'actionlint',
      'cert-manager',
      'cilium',
      'cni',
      'containerd',
      'control-plane',
      'helm',
      'kube-score',
      'metallb',
      'promtool',
    ],
    ['background-build.ts', 'dialect-examples.ts', 'kubectl.ts', 'node', 'product.ts', 'run-helm.ts'],
    ['rig', 'service-account.ts', 'terminal.ts'],
    ['container.ts', 'control-planes', 'installed-chart.ts'],
    ['assigned', 'cluster', 'demo-control-plane.ts', 'pod.ts'],
    ['e2e', 'stage.ts'],
    ['demo-network.ts', 'run-sandbox.ts'],
    ['demo.ts', 'sandbox.ts'],
  ],
}

/** The only files that may import these packages. */
const doors: Record<string, string[]> = {
  '@kubernetes/client-node': ['kube/'],
  'node-forge': ['certs/'],
  fastify: ['server/listeners/', 'webhooks/admission.ts', 'sandbox/clouds/'],
  'p-queue': ['clouds/http/'],
  'p-map': ['lib/'],
  'fastest-levenshtein': ['lib/'],
  commander: ['commands/', 'kubectl-eip/program.ts'],
  esbuild: ['packaging/bundle.ts'],
  pino: ['server/'],
  'pino-pretty': ['server/log-text-format.ts'],
  '@prometheus-io/client': ['telemetry/metrics/metrics.ts'],
}

/** Only these files may use the parts of the process that belong to the main.ts of the program and of the plugin. */
const mains = ['server/main.ts', 'kubectl-eip/main.ts']
const ofMain = /\bprocess\.(env|exit|argv|exitCode)\b/

type Import = { from: string; what: string }

const files = globSync(`{${Object.keys(law).join(',')}}/**/*.ts`, { cwd: root })

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const statements = text.matchAll(
    /(?:^|\n)(?:import|export)\b[^;'"]*?from '([^']+)'|\bimport\('([^']+)'\)|\nimport '([^']+)'/g,
  )
  return [...statements].map(([, from, dynamic, bare]) => ({ from: file, what: from ?? dynamic ?? bare ?? '' }))
}

/** The file that a relative import names, from the root. */
function target({ from, what }: Import): string {
  return relative(root, normalize(join(root, dirname(from), what)))
}

function roomOf(file: string): string {
  return file.split('/')[0] ?? ''
}

const imports = files.flatMap(importsOf)

/** The floor of a file in its room, of which the lowest is 0; -1 if it is on none. */
function floorOf(file: string): number {
  const room = roomOf(file)
  const isIn = (place: string) => file === `${room}/${place}` || file.startsWith(`${room}/${place}/`)
  const declared = floors[room]
  if (!declared) return file.split('/').length === 2 ? 0 : -1
  const named = declared.findIndex((floor) => [floor].flat().some(isIn))
  if (named >= 0 || file.split('/').length > 2) return named
  return declared.findIndex((floor) => [floor].flat().includes('*'))
}

function isWithinRoom(found: Import): boolean {
  return found.what.startsWith('.') && roomOf(found.from) === roomOf(target(found))
}

/** The imports from a higher floor of a room. */
function upwardImports(all: Import[]): string[] {
  return all
    .filter((found) => isWithinRoom(found) && floorOf(target(found)) > floorOf(found.from))
    .map((found) => `${found.from} -> ${target(found)}`)
}

/** The circles of imports inside rooms, types included: one for each way by which a file imports itself. */
function circles(all: Import[]): string[] {
  const within = all.filter(isWithinRoom)
  const targets = Map.groupBy(within, ({ from }) => from)
  const found = new Set<string>()
  const cleared = new Set<string>()
  const follow = (file: string, way: string[]): void => {
    const start = way.indexOf(file)
    if (start >= 0) found.add([...way.slice(start), file].join(' -> '))
    if (start >= 0 || cleared.has(file)) return
    for (const next of targets.get(file) ?? []) follow(target(next), [...way, file])
    cleared.add(file)
  }
  for (const file of targets.keys()) follow(file, [])
  return [...found]
}

test('rooms import only what the law allows', () => {
  const broken = imports
    .filter(({ what }) => what.startsWith('.'))
    .filter((found) => {
      const room = roomOf(found.from)
      const to = target(found)
      return (
        roomOf(to) !== room &&
        !['lib', ...(law[room] ?? [])].some((allowed) => to === allowed || to.startsWith(`${allowed}/`))
      )
    })
  assert.equal(
    broken.map((found) => `${found.from} -> ${target(found)}`),
    [],
  )
})

test('no room may import from a room above it', () => {
  const order = Object.keys(law)
  const broken = Object.entries(law).flatMap(([room, allowed]) =>
    allowed
      .filter((place) => order.includes(roomOf(place)) && order.indexOf(roomOf(place)) >= order.indexOf(room))
      .map((place) => `${room} -> ${place}`),
  )
  assert.equal(broken, [])
})

test('every file is on a floor of its room: folders have a declared order', () => {
  assert.equal(
    files.filter((file) => floorOf(file) < 0),
    [],
  )
})

test('no file imports from a higher floor of its room', () => {
  assert.equal(upwardImports(imports), [])
})

test('no files of a room import each other in a circle', () => {
  assert.equal(circles(imports), [])
})

/** Small files that are separate from their only user, and why. */
const besideTheirUser: Record<string, string> = {
  'announcers/assign.ts': 'a software, in the list of them',
  'clouds/scaleway/settings.ts': 'every cloud has its settings there',
  'kube/kubeconfig-library.ts': 'loaded only where a kubeconfig is read',
  'server/log-text-format.ts': 'loaded only where the log is text',
  'server/webhooks.ts': 'the list of webhooks',
  'telemetry/alerts/certificates.ts': 'a group of alerts, in the list of them',
}

test('a file under 60 lines that one file of its folder uses, and no test, is a part of that file', () => {
  const users = Map.groupBy(imports, target)
  const tested = new Set(globSync('test/**/*.ts', { cwd: root }).flatMap(importsOf).map(target))
  const small = files.filter((file) => {
    if (['sandbox', 'packaging'].includes(roomOf(file)) || tested.has(file)) return false
    const [user, ...others] = new Set(users.get(file)?.map(({ from }) => from))
    const isBeside = user !== undefined && others.length === 0 && dirname(user) === dirname(file)
    return isBeside && readFileSync(join(root, file), 'utf8').split('\n').length <= 60
  })
  assert.equal(small.toSorted(), Object.keys(besideTheirUser))
})

test('every package with a door is used behind it', () => {
  const broken = imports.filter(({ from, what }) => {
    const allowed = doors[what]
    return allowed !== undefined && !allowed.some((door) => from.startsWith(door))
  })
  assert.equal(
    broken.map(({ from, what }) => `${from} -> ${what}`),
    [],
  )
})

test('a package is not loaded by a dynamic import, by which a bundle finds only its default', () => {
  const dynamic = files.filter((file) => /\bimport\('(?!\.|node:)/.test(readFileSync(join(root, file), 'utf8')))
  assert.equal(dynamic, [])
})

test('environment, arguments and exit belong to the files that are run', () => {
  const broken = files.filter(
    (file) =>
      !['sandbox', 'packaging'].includes(roomOf(file)) &&
      !mains.includes(file) &&
      ofMain.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.equal(broken, [])
})

test('the law sees what it judges', () => {
  assert.ok(files.length > 60)
  assert.ok(
    imports.some(({ from, what }) => from === 'kube/kubeconfig-library.ts' && what === '@kubernetes/client-node'),
  )
  assert.ok(
    imports.some(
      (found) => found.from === 'ledger/claim/obtain-address.ts' && target(found) === 'clouds/ports/cloud.ts',
    ),
  )
})

test('an upward import and a circle are found where there is one', () => {
  const up = { from: 'ledger/record/records.ts', what: '../sweep/sweep.ts' }
  const down = { from: 'ledger/sweep/sweep.ts', what: '../record/records.ts' }
  const across = { from: 'webhooks/webhook.ts', what: '../ledger/sweep/sweep.ts' }
  assert.equal(upwardImports([up, down, across]), ['ledger/record/records.ts -> ledger/sweep/sweep.ts'])
  assert.equal(circles([up, across]), [])
  assert.equal(circles([up, down]), ['ledger/record/records.ts -> ledger/sweep/sweep.ts -> ledger/record/records.ts'])
})

test.run()
