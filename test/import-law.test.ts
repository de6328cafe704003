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
  ledger: ['kube', 'clouds/cloud.ts'],
  webhooks: ['kube', 'ledger', 'announcers', 'clouds/cloud.ts'],
  controllers: ['kube', 'ledger', 'announcers', 'clouds/cloud.ts', 'clouds/machines.ts', 'clouds/peering.ts'],
  certs: ['kube'],
  manifests: ['kube'],
  server: ['kube', 'clouds', 'announcers', 'ledger', 'webhooks', 'controllers', 'certs', 'manifests', 'package.json'],
  // What starts the product does so by its public door; it knows how installed things are called.
  sandbox: ['manifests'],
}

/** Who may use a package that has one door. */
const doors: Record<string, string[]> = {
  '@kubernetes/client-node': ['kube/'],
  'node-forge': ['certs/'],
  fastify: ['server/listeners/', 'webhooks/admission.ts', 'sandbox/clouds/'],
  'p-queue': ['clouds/http/'],
  'p-map': ['lib/'],
  'fastest-levenshtein': ['lib/'],
  commander: ['server/commands/'],
  pino: ['server/'],
  'pino-pretty': ['server/log.ts'],
  '@prometheus-io/client': ['server/metrics.ts'],
}

/** Parts of the process that belong to main.ts, in what runs in the image. */
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

test('environment, arguments and exit belong to server/main.ts', () => {
  const broken = files.filter(
    (file) =>
      roomOf(file) !== 'sandbox' && file !== 'server/main.ts' && ofMain.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.equal(broken, [])
})

test('the law sees what it judges', () => {
  assert.ok(files.length > 60)
  assert.ok(imports.some(({ from, what }) => from === 'kube/kubeconfig.ts' && what === '@kubernetes/client-node'))
  assert.ok(imports.some((found) => found.from === 'ledger/claim/ask.ts' && target(found) === 'clouds/cloud.ts'))
})

test.run()
