import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { kubeconfig } from '../../sandbox/control-plane/kubeconfig.ts'
import type { KubectlResult } from '../../sandbox/kubectl.ts'
import { typed } from './command-line.ts'

/** Checks a refusal to start: a message for a person on stderr, and no stack trace. */
function refused({ code, stderr }: KubectlResult, ...words: string[]): void {
  assert.is(code, 1)
  for (const word of words) assert.match(stderr, word)
  assert.not.match(stderr, /\n\s+at |node:internal|file:\/\//)
}

const right = { METAL_API_KEY: 'a-secret-token', METAL_PROJECT_ID: 'p' }
const cloud = '--cloud-provider=equinixmetal'

async function inFolder(play: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
  await play(dir).finally(() => rmSync(dir, { recursive: true }))
}

test('an error lists every mistake in the settings, with what would be right', async () => {
  const args = ['serve', cloud, '--secure-port=99999', '--base-url=http://metal.example.com', '--only=everything']
  const env = { METAL_LOAD_BALANCER: 'metallb://system', EIP_UNBOUND_GRACE: 'soon' }
  const output = await typed(args, env)
  refused(output, 'METAL_API_KEY', 'METAL_PROJECT_ID', '--secure-port', '99999', '--base-url', '--only', '"everything"')
  refused(output, 'METAL_LOAD_BALANCER', 'metallb:///', 'EIP_UNBOUND_GRACE', '"soon"')
})

test('without a cloud provider the error names the flag that sets it', async () =>
  refused(await typed(['serve'], right), '--cloud-provider'))

test('an unknown cloud provider is refused with the known ones', async () =>
  refused(await typed(['serve', '--cloud-provider=equinix'], right), '"equinix"', 'equinixmetal'))

test('an unknown flag is refused with the one that was meant', async () =>
  refused(await typed(['serve', cloud, '--metr=da'], right), '--metro'))

test('a configuration file that is not JSON or does not exist is named', () =>
  inFolder(async (dir) => {
    const file = join(dir, 'cloud-sa.json')
    writeFileSync(file, '{ "apiKey": "a-secret-token", }')
    const broken = await typed(['serve', cloud, `--cloud-config=${file}`])
    refused(broken, file)
    assert.not.match(broken.stderr, 'a-secret-token')
    refused(await typed(['serve', cloud, `--cloud-config=${join(dir, 'none.json')}`]), join(dir, 'none.json'))
  }))

test('a kubeconfig that does not exist is named', async () =>
  refused(await typed(['serve', cloud, '--kubeconfig=/no/such/file'], right), '/no/such/file'))

test('a client CA file without certificates is named with what is wrong', () =>
  inFolder(async (dir) => {
    const file = join(dir, 'ca.crt')
    const missing = await typed(['serve', cloud, `--webhook-client-ca-file=${file}`], right)
    refused(missing, `webhook client CA file: ${file} does not exist`)
    writeFileSync(file, '-----BEGIN PRIVATE KEY-----')
    const empty = await typed(['serve', cloud], { ...right, EIP_WEBHOOK_CLIENT_CA_FILE: file })
    refused(empty, `${file} holds no certificate`, 'a readable PEM file with CA certificates')
    const names = await typed(['serve', cloud, '--webhook-client-allowed-names=kube-apiserver'], right)
    refused(names, 'set --webhook-client-ca-file too')
  }))

test('install and cleanup name a kubeconfig that does not exist', async () => {
  for (const command of ['install', 'cleanup'])
    refused(await typed([command, '--kubeconfig=/no/such/file']), '/no/such/file')
})

test('an error does not repeat a secret in an unknown flag', async () => {
  const output = await typed(['serve', cloud, '--api-key=a-secret-token'], right)
  refused(output, '--api-key')
  assert.not.match(output.stderr, 'a-secret-token')
})

test('a process that is stopped before it reaches the cluster ends with exit code 0', () =>
  inFolder(async (dir) => {
    const file = join(dir, 'kubeconfig')
    writeFileSync(
      file,
      kubeconfig({ url: 'https://127.0.0.1:1', authority: '', user: { name: 'nobody', groups: [], token: 't' } }),
    )
    const output = await typed(['serve', cloud, `--kubeconfig=${file}`], right, 'waiting for the API server')
    assert.equal([output.code, output.stderr], [0, ''])
  }))

test('version and help are printed with exit code 0', async () => {
  assert.match((await typed(['version'])).stdout, /^\d+\.\d+\.\d+\n$/)
  const { code, stdout } = await typed(['serve', '--help=all'])
  assert.is(code, 0)
  for (const word of ['--cloud-provider', 'METAL_METRO_NAME', '--leader-elect']) assert.match(stdout, word)
})

test.run()
