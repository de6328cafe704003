import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const root = join(import.meta.dirname, '..')

/** Which rooms, or single files of a room, a room may import besides itself and lib. Nobody imports server. */
const law: Record<string, string[]> = {
  lib: [],
  kube: [],
  clouds: [],
  announcers: ['kube'],
  ledger: ['kube', 'clouds/ports/cloud.ts'],
  webhooks: ['kube', 'ledger', 'announcers', 'clouds/ports/cloud.ts'],
  controllers: [
    'kube',
    'ledger',
    'announcers',
    'clouds/ports/assignments.ts',
    'clouds/ports/balancers.ts',
    'clouds/ports/cloud.ts',
    'clouds/ports/machines.ts',
    'clouds/ports/peering.ts',
  ],
  certs: ['kube'],
  manifests: ['kube'],
  server: ['kube', 'clouds', 'announcers', 'ledger', 'webhooks', 'controllers', 'certs', 'manifests', 'package.json'],
  packaging: [],
  // What starts the product does so by its public door; it knows how installed things are called. An authority is an
  // authority: API servers get theirs where webhooks do.
  sandbox: ['manifests', 'packaging', 'certs/authority.ts'],
}

/**
 * The floors of a room, lowest first: a file imports only from its own floor and those before it. A floor is a folder or a
 * file of the room, or a list of them; every file of the room is on one floor.
 */
const floors: Record<string, (string | string[])[]> = {
  ledger: ['record', 'want', 'available', 'claim', 'release', 'sweep'],
}

/** Who may use a package that has one door. */
const doors: Record<string, string[]> = {
  '@kubernetes/client-node': ['kube/'],
  'node-forge': ['certs/'],
  fastify: ['server/listeners/', 'webhooks/admission.ts', 'sandbox/clouds/'],
  'p-queue': ['clouds/http/'],
  'p-map': ['lib/'],
  'fastest-levenshtein': ['lib/'],
  commander: ['server/commands/', 'kubectl-eip/program.ts'],
  esbuild: ['packaging/bundle.ts'],
  pino: ['server/'],
  'pino-pretty': ['server/log-text-format.ts'],
  '@prometheus-io/client': ['telemetry/metrics/metrics.ts'],
}

/** Parts of the process that belong to main.ts, in what runs in the image, and to that of the plugin. */
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

/** Where a relative import leads, from the root. */
function target({ from, what }: Import): string {
  return relative(root, normalize(join(root, dirname(from), what)))
}

function roomOf(file: string): string {
  return file.split('/')[0] ?? ''
}

const imports = files.flatMap(importsOf)

/** Which floor of its room a file is on, the lowest is 0; -1 where it is on none. */
function floorOf(file: string): number {
  const isIn = (place: string) => file === `${roomOf(file)}/${place}` || file.startsWith(`${roomOf(file)}/${place}/`)
  return (floors[roomOf(file)] ?? []).findIndex((floor) => [floor].flat().some(isIn))
}

function isWithinRoom(found: Import): boolean {
  return found.what.startsWith('.') && roomOf(found.from) === roomOf(target(found))
}

/** The imports of a room with floors that lead to a higher one. */
function upwardImports(all: Import[]): string[] {
  return all
    .filter((found) => floors[roomOf(found.from)] !== undefined && isWithinRoom(found))
    .filter((found) => floorOf(target(found)) > floorOf(found.from))
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

test('every file of a room with floors is on one of them', () => {
  assert.equal(
    files.filter((file) => floors[roomOf(file)] !== undefined && floorOf(file) < 0),
    [],
  )
})

test('no file imports from a higher floor of its room', () => {
  assert.equal(upwardImports(imports), [])
})

test('no files of a room with floors import each other in a circle', () => {
  assert.equal(circles(imports), [])
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
