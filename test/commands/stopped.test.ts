// Ctrl-C ends the commands that change a cluster, also while its API server does not answer. A reader that goes away does not.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { productCommand } from '../../sandbox/product-command.ts'
import { inheritedEnv } from '../../sandbox/product.ts'

const dir = mkdtempSync(join(tmpdir(), 'eip-admission-stopped-'))
const silent = createServer().listen(0, '127.0.0.1')
await once(silent, 'listening')
const kubeconfig = join(dir, 'kubeconfig')
writeFileSync(
  kubeconfig,
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${(silent.address() as AddressInfo).port}` } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }),
)
const [program = '', ...first] = await productCommand()

async function textOf(child: ChildProcess): Promise<string> {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await once(child, 'close')
  return text
}

for (const [name, args] of Object.entries({
  install: ['install', '--webhook-url=https://192.0.2.1:10260'],
  'cleanup --yes': ['cleanup', '--yes'],
})) {
  test(`${name} ends at Ctrl-C with what to do`, async () => {
    const connected = once(silent, 'connection')
    const child = spawn(program, [...first, ...args, `--kubeconfig=${kubeconfig}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: inheritedEnv(),
    })
    const text = textOf(child)
    await connected
    child.kill('SIGINT')
    assert.match(await text, /^eip-admission: stopped before .*; run the command again/)
    assert.is(child.exitCode, 1)
  })
}

test('a command continues to its end when nobody reads what it prints', async () => {
  const child = spawn(program, [...first, 'help', 'serve'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const text = textOf(child)
  child.stdout?.destroy()
  assert.equal([await text, child.exitCode], ['', 0])
})

// Writing to the first byte of a process gives the error that a closed terminal gives. Only Linux shows memory as a file.
if (process.platform === 'linux')
  test('a command continues to its end when its terminal was closed', async () => {
    const closed = openSync('/proc/self/mem', 'r+')
    const child = spawn(program, [...first, 'help', 'serve'], { stdio: ['ignore', closed, 'pipe'] })
    closeSync(closed)
    assert.equal([await textOf(child), child.exitCode], ['', 0])
  })

test.after(() => {
  silent.close()
  rmSync(dir, { recursive: true })
})

test.run()
