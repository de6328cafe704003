import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }

const root = join(import.meta.dirname, '..', '..')
const dir = mkdtempSync(join(tmpdir(), 'eip-admission-package-'))
const run = async (program: string, args: string[], cwd: string) =>
  (await promisify(execFile)(program, args, { cwd })).stdout

type Packed = { filename: string; unpackedSize: number; files: { path: string }[] }
const [packed] = JSON.parse(await run('npm', ['pack', '--json', '--pack-destination', dir], root)) as Packed[]
const user = join(dir, 'user')
mkdirSync(user)

test('the npm package has the bundle and no sources', () => {
  const paths = packed?.files.map(({ path }) => path) ?? []
  for (const path of [
    'dist/bundle/eip-admission.mjs',
    'dist/bundle/LICENSES.txt',
    'dist/bundle/kubectl-eip.mjs',
    'packaging/bin.mjs',
    'packaging/kubectl-eip.mjs',
    'packaging/kubectl_complete-eip.mjs',
    'LICENSE',
    'README.md',
  ])
    assert.ok(paths.includes(path), path)
  assert.equal(
    paths.filter((path) => path.endsWith('.ts')),
    [],
  )
  assert.ok((packed?.unpackedSize ?? Infinity) < 5_500_000)
})

test('npx runs it from an empty folder, without a compiler and without other packages', async () => {
  const flags = ['--offline', '--omit=optional', '--no-audit', '--no-fund', '--ignore-scripts']
  await run('npm', ['install', ...flags, join(dir, packed?.filename ?? '')], user)
  assert.equal((await run('npm', ['ls', '--all', '--parseable'], user)).trim().split('\n').length, 2)
  assert.match(
    await run('npx', ['--offline', 'eip-admission', '--help'], user),
    'Runs the webhooks and the controllers.',
  )
  const bin = join(user, 'node_modules', '.bin')
  assert.match(await run(join(bin, 'kubectl-eip'), ['--help'], user), 'Usage: kubectl eip [options] [command]')
  assert.is(await run(join(bin, 'kubectl_complete-eip'), ['sta'], user), 'status\n:4\n')
  const objects = await run(
    'npx',
    ['--offline', 'eip-admission', 'install', '--dry-run', '--webhook-url=https://192.0.2.1'],
    user,
  )
  for (const kind of ['CustomResourceDefinition', 'ClusterRole', 'MutatingWebhookConfiguration'])
    assert.match(objects, `kind: ${kind}\n`)
})

test('the manifest for krew names the package, its checksum, and a program that it has', async () => {
  const file = join(dir, packed?.filename ?? '')
  const { spec } = parse(await run(process.execPath, [join(root, 'packaging', 'krew-manifest.ts'), file], root)) as {
    spec: { platforms: { uri: string; sha256: string; bin: string }[] }
  }
  const [platform] = spec.platforms
  assert.match(platform?.uri ?? '', `/${packed?.filename}`)
  assert.is(platform?.sha256, createHash('sha256').update(readFileSync(file)).digest('hex'))
  await run('tar', ['-xzf', file], dir)
  assert.match(await run(join(dir, platform?.bin ?? ''), ['--version'], dir), manifest.version)
})

test.after(() => rmSync(dir, { recursive: true, force: true }))

test.run()
