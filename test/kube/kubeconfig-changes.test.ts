// A kubeconfig that changes while the process runs.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { base64, inEnvironment, plugin, withFolder, write } from './kubeconfig-files.ts'
import { errorOf } from './scripted-server.ts'

const pem = (name: string) => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`
const authorities = (...names: string[]) => ({ 'certificate-authority-data': base64(names.map(pem).join('')) })

/** Credentials that look at their file again at each question, and what they answer. */
function looks(options: { file?: string; root?: string }) {
  let now = 0
  const credentials = kubeconfig({ ...options, now: () => now })
  return async () => {
    now += 10_000
    const { url, headers, tls } = await credentials.current()
    return [url, headers['authorization'], String(tls.ca)]
  }
}

/** Their answer at the second look after a change: at the first one the file may be half written. */
async function afterChange(look: ReturnType<typeof looks>) {
  await look()
  return look()
}

test('the authorities, the server and the token of a file that changes are followed', () =>
  withFolder(async (folder) => {
    const look = looks({ file: write(folder, { cluster: authorities('OLD'), user: { token: 'a' } }) })
    const url = 'https://192.0.2.1:6443'
    assert.equal(await look(), [url, 'Bearer a', pem('OLD')])
    write(folder, { cluster: authorities('OLD', 'NEW'), user: { token: 'b' } })
    assert.equal(await afterChange(look), [url, 'Bearer b', pem('OLD') + pem('NEW')])
    write(folder, { cluster: authorities('NEW'), user: { token: 'b' } })
    assert.equal(await afterChange(look), [url, 'Bearer b', pem('NEW')])
    const moved = { server: 'https://192.0.2.2:6443', ...authorities('NEW') }
    write(folder, { cluster: moved, user: { token: 'b' } })
    assert.equal(await afterChange(look), ['https://192.0.2.2:6443', 'Bearer b', pem('NEW')])
  }))

test('a CA file shows the cluster only with the same server: another cluster may have its CA at the same path', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'ca.crt')
    const cluster = { 'certificate-authority': path }
    writeFileSync(path, pem('OLD'))
    const look = looks({ file: write(folder, { cluster, user: { token: 'a' } }) })
    const url = 'https://192.0.2.1:6443'
    assert.equal(await look(), [url, 'Bearer a', pem('OLD')])
    writeFileSync(path, pem('NEW'))
    write(folder, { cluster, user: { token: 'b' } })
    assert.equal(await afterChange(look), [url, 'Bearer b', pem('NEW')], 'a rotation')
    write(folder, { cluster: { server: 'https://192.0.2.2:6443', ...cluster }, user: { token: 'c' } })
    assert.equal(await afterChange(look), [url, 'Bearer b', pem('NEW')], 'perhaps another cluster')
  }))

test("a plugin's token stays in use when the file is written again with the same content", () =>
  withFolder(async (folder) => {
    const content = { user: plugin(folder, 3_600_000) }
    const look = looks({ file: write(folder, content) })
    const before = await look()
    write(folder, content)
    assert.equal(await afterChange(look), before)
    assert.is(readFileSync(join(folder, 'runs'), 'utf8'), '1')
  }))

const unusable: { name: string; change: (file: string, text: string) => void }[] = [
  { name: 'no longer exists', change: (file) => rmSync(file) },
  { name: 'is empty', change: (file) => writeFileSync(file, '') },
  { name: 'is no YAML', change: (file) => writeFileSync(file, 'users:\n- {token: x\n  x') },
  {
    name: 'has another current context',
    change: (file, text) => writeFileSync(file, text.replace('current-context: here', 'current-context: there')),
  },
  {
    name: 'no longer has the context',
    change: (file, text) => writeFileSync(file, text.replaceAll('here', 'there')),
  },
  {
    name: 'trusts other authorities alone, as one of another cluster does',
    change: (file) => void write(join(file, '..'), { cluster: authorities('OTHER'), user: { token: 'b' } }),
  },
  {
    name: 'has another path of one server, as a proxy of many clusters gives to each',
    change: (file) => {
      const other = { server: 'https://192.0.2.1:6443/k8s/clusters/other', ...authorities('OLD') }
      write(join(file, '..'), { cluster: other, user: { token: 'b' } })
    },
  },
]

for (const { name, change } of unusable) {
  test(`a file that ${name} changes nothing, and is read again when it has changed once more`, () =>
    withFolder(async (folder) => {
      const file = write(folder, { cluster: authorities('OLD'), user: { token: 'a' } })
      const look = looks({ file })
      const before = await look()
      change(file, readFileSync(file, 'utf8'))
      assert.equal([await look(), await look(), await look()], [before, before, before])
      write(folder, { cluster: authorities('OLD', 'NEW'), user: { token: 'b' } })
      assert.is((await afterChange(look))[1], 'Bearer b')
    }))
}

test('a file that is half written at one look changes nothing', () =>
  withFolder(async (folder) => {
    const file = write(folder, { user: { token: 'token-a' } })
    const look = looks({ file })
    await look()
    const whole = readFileSync(file, 'utf8').replace('token-a', 'token-b')
    writeFileSync(file, whole.slice(0, whole.indexOf('en-b')))
    assert.is((await look())[1], 'Bearer token-a')
    writeFileSync(file, whole)
    assert.is((await look())[1], 'Bearer token-a')
    assert.is((await look())[1], 'Bearer token-b')
  }))

test('after a 401 a file of another cluster is refused, and the error says what to do', () =>
  withFolder(async (folder) => {
    const file = write(folder, { cluster: authorities('OLD') })
    const credentials = kubeconfig({ file })
    const used = await credentials.current()
    write(folder, { cluster: authorities('OTHER') })
    const { message } = await errorOf(credentials.renew(used))
    const fact = 'context "here" may point to another cluster now, because its server or all of its CAs are new'
    assert.is(message, `kubeconfig ${file}: ${fact}; restart to use it`)
  }))

test('a change of the second of several files is followed', () =>
  withFolder(async (folder) => {
    const first = join(folder, 'first')
    writeFileSync(first, stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'here' }))
    const look = looks({ file: `${first}${delimiter}${write(folder, { user: { token: 'a' } })}` })
    assert.is((await look())[1], 'Bearer a')
    write(folder, { user: { token: 'b' } })
    assert.is((await afterChange(look))[1], 'Bearer b')
  }))

test('a change of the file in the home folder is followed', () =>
  inEnvironment({}, async (root) => {
    mkdirSync(join(root, '.kube'))
    write(join(root, '.kube'), { user: { token: 'a' } })
    const look = looks({ root })
    assert.is((await look())[1], 'Bearer a')
    write(join(root, '.kube'), { user: { token: 'b' } })
    assert.is((await afterChange(look))[1], 'Bearer b')
  }))

test.run()
