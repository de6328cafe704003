import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { KubeConfig } from '@kubernetes/client-node'
import { bundle } from '../../packaging/bundle.ts'
import { commandLine } from '../../packaging/program.ts'
import { originalStack } from '../../server/log.ts'

const root = join(import.meta.dirname, '..', '..')
const dir = mkdtempSync(join(tmpdir(), 'eip-admission-bundle-'))
const [first, second] = [join(dir, 'first'), join(dir, 'and', 'second')]
await bundle(first)
await bundle(second)

const contents = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
const files = contents(first)
const named = (start: string) =>
  Object.keys(files).find((file) => file.startsWith(start) && file.endsWith('.mjs')) ?? ''

const modules = Object.entries(files).filter(([file]) => file.endsWith('.mjs'))

/** Runs a command of the bundle, where there is no node_modules and nothing of our environment. */
async function run(...args: string[]) {
  const [program = '', ...first] = commandLine(second)
  return promisify(execFile)(program, [...first, ...args], { cwd: dir, env: {} })
}

test('the same sources give the same bytes, and none says where they lay', () => {
  assert.equal(contents(second), files)
  for (const [file, text] of Object.entries(files)) assert.not(text.includes(root), file)
})

test('the bundle runs without node_modules, and has its version from package.json', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  assert.is((await run('version')).stdout, `${version}\n`)
  assert.match((await run('--help')).stdout, 'Runs the webhooks and the controllers.')
  assert.match((await run('serve', '--help')).stdout, '--webhook-secure-port')
  assert.match(
    (await run('install', '--dry-run', '--webhook-url=https://192.0.2.1')).stdout,
    'kind: CustomResourceDefinition',
  )
})

test('the library that reads a kubeconfig is loaded only where one is used', () => {
  const library = named('kubeconfig-library')
  const users = modules.filter(([file, text]) => file !== library && text.includes(library))
  assert.ok(users.length > 0)
  for (const [file, text] of users) {
    const found = text.split(library).length - 1
    assert.is(text.split(`import("./${library}")`).length - 1, found, `${file} loads it with itself`)
  }
  assert.not.match(files[named('serve')] ?? '', 'tokenExchangeRequest')
})

test('nor does it load the undici of Node, which takes a third of its time', async () => {
  const library = JSON.stringify(join(second, named('kubeconfig-library')))
  const script = `await import(${library}); console.log(process.moduleLoadList.join('\\n'))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  const loaded = stdout.split('\n')
  assert.ok(loaded.includes('NativeModule https'))
  assert.equal(
    loaded.filter((name) => name.includes('undici')),
    [],
  )
})

test('it reads a kubeconfig with an exec plugin, a client certificate and a proxy', async () => {
  const library = (await import(join(second, named('kubeconfig-library')))) as { KubeConfig: typeof KubeConfig }
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'of-plugin' },
  }
  const exec = { apiVersion: credential.apiVersion, command: 'echo', args: [JSON.stringify(credential)] }
  const config = new library.KubeConfig()
  for (const proxyURL of ['http://127.0.0.1:3128', 'socks5://127.0.0.1:1080']) {
    config.loadFromOptions({
      clusters: [{ name: 'a', server: 'https://192.0.2.1', proxyUrl: proxyURL, caData: btoa('authority') }],
      users: [{ name: 'a', exec: { ...exec, interactiveMode: 'Never' } }],
      contexts: [{ name: 'a', cluster: 'a', user: 'a' }],
      currentContext: 'a',
    })
    const request: RequestOptions = {}
    await config.applyToHTTPSOptions(request)
    assert.equal(new Headers(request.headers as Record<string, string>).get('authorization'), 'Bearer of-plugin')
    assert.is(String(request.ca), 'authority')
    assert.is(typeof request.agent, 'object')
  }
})

test('the licence of every package in the bundle is collected', () => {
  const packages = JSON.parse(files['packages.json'] ?? '') as { name: string; version: string }[]
  for (const name of ['fastify', 'node-forge', 'pino', '@kubernetes/client-node'])
    assert.ok(
      packages.some((found) => found.name === name),
      name,
    )
  for (const { name, version } of packages) assert.match(files['LICENSES.txt'] ?? '', `\n${name} ${version} (`)
  assert.not(packages.some(({ name }) => ['esbuild', 'uvu', 'typescript'].includes(name)))
})

test('all of our own code is smaller than 5.5 MB', () => {
  const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  assert.ok(bytes < 5_500_000, `${bytes} bytes`)
})

for (const format of ['text', 'json'])
  test(`serve gets as far as its first call, and says in ${format} that nobody answers`, async () => {
    const [program = '', ...flags] = commandLine(second)
    const config = {
      clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'a', user: {} }],
    }
    const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }]
    const file = join(dir, 'kubeconfig')
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config, contexts, 'current-context': 'a' }),
    )
    const args = ['serve', '--cloud-provider=equinixmetal', `--kubeconfig=${file}`, `--logging-format=${format}`]
    const child = spawn(program, [...flags, ...args], { env: { METAL_API_KEY: 'x', METAL_PROJECT_ID: randomUUID() } })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        if (output.includes('ECONNREFUSED')) child.kill()
      })
    await once(child, 'close')
    assert.match(output, 'connect ECONNREFUSED 127.0.0.1:1')
    assert.is(output.trimStart().startsWith('{'), format === 'json')
  })

test('a stack trace names our source and its line', () => {
  const words = 'lists the commands.'
  const file = named('run-')
  const lines = (files[file] ?? '').split('\n')
  const line = lines.findIndex((text) => text.includes(words))
  const column = lines[line]?.indexOf(words) ?? -1
  const stack = `Error: x\n    at y (file://${join(first, file)}:${line + 1}:${column + 1})\n    at z (node:internal/a:1:2)`
  const source = 'commands/program.ts'
  const found = /at y \((.*):(\d+):\d+\)/.exec(originalStack(stack))
  assert.is(found?.[1], source)
  assert.match(readFileSync(join(root, source), 'utf8').split('\n')[Number(found?.[2]) - 1] ?? '', words)
  assert.match(originalStack(stack), 'at z (node:internal/a:1:2)')
})

test('every place in the bundle can stand in a stack trace, those that the bundler added too', () => {
  for (const [file, text] of Object.entries(files).filter(([name]) => name.endsWith('.mjs'))) {
    const places = text.split('\n').flatMap((line, row) => {
      const columns = Array.from({ length: Math.min(200, Math.ceil(line.length / 7)) }, (_, n) => n * 7 + 1)
      return columns.map((column) => `at x (file://${join(first, file)}:${row + 1}:${column})`)
    })
    assert.not.throws(() => originalStack(places.slice(0, 20_000).join('\n')), file)
  }
})

test('a place without a map stays as it is', () => {
  const stack = 'Error: x\n    at y (file:///nowhere/a.mjs:1:2)\n    at z (file:///src/server/serve.ts:3:4)'
  assert.is(originalStack(stack), stack)
})

test.after(() => rmSync(dir, { recursive: true, force: true }))

test.run()
