import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

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

test.after(() => rmSync(dir, { recursive: true, force: true }))

test.run()
