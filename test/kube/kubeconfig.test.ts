import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, type Socket, connect as dial } from 'node:net'
import { delimiter, join } from 'node:path'
import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import { connect } from '../../kube/connect.ts'
import { kubeconfig } from '../../kube/kubeconfig.ts'
import { namespaces } from '../../kube/resource.ts'
import { base64, inEnvironment, plugin, withFolder, write } from './kubeconfig-files.ts'
import { sendJson, errorOf, sendStatus, withServer } from './scripted-server.ts'

test('a kubeconfig gives the server, our identity and the CA', () =>
  withFolder(async (folder) => {
    const cluster = { 'certificate-authority-data': base64('a CA'), 'tls-server-name': 'kube' }
    const file = write(folder, { cluster, user: { token: 'tok', as: 'jane' } })
    assert.equal(await kubeconfig({ file }).current(), {
      url: 'https://192.0.2.1:6443',
      headers: { authorization: 'Bearer tok', 'impersonate-user': 'jane' },
      tls: { ca: Buffer.from('a CA'), servername: 'kube' },
      namespace: 'mine',
    })
  }))

test('another API server gets the same credentials, and no proxy', () =>
  withFolder(async (folder) => {
    const file = write(folder, { cluster: { 'proxy-url': 'http://192.0.2.9:3128' }, user: { token: 'mine' } })
    const { url, headers, proxy } = await kubeconfig({ file, server: 'https://192.0.2.7:6443' }).current()
    assert.equal([url, headers['authorization'], proxy], ['https://192.0.2.7:6443', 'Bearer mine', undefined])
  }))

test('a client certificate, a password and an unverified server are used as configured', () =>
  withFolder(async (folder) => {
    const certificate = { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key') }
    const user = { ...certificate, username: 'jane', password: 'pass' }
    const file = write(folder, { cluster: { 'insecure-skip-tls-verify': true }, user })
    const { headers, tls } = await kubeconfig({ file }).current()
    assert.equal(headers, { authorization: `Basic ${base64('jane:pass')}` })
    assert.equal(tls, { cert: Buffer.from('cert'), key: Buffer.from('key'), rejectUnauthorized: false })
  }))

test("a plugin's token is used until it expires, then the plugin runs again", () =>
  withFolder(async (folder) => {
    let now = 0
    const file = write(folder, { user: plugin(folder, 3_600_000) })
    const credentials = kubeconfig({ file, now: () => now })
    const token = async () => (await credentials.current()).headers.authorization
    assert.is(await token(), 'Bearer run-1')
    now += 10_000
    assert.is(await token(), 'Bearer run-1')
    now += 10_000
    const tomorrow = Date.now() + 24 * 3_600_000
    const clock = mock.method(Date, 'now', () => tomorrow)
    assert.is(await token().finally(() => clock.mock.restore()), 'Bearer run-2')
  }))

test("a plugin's token that gets 401 is not used again, expired or not", () =>
  withFolder((folder) =>
    withServer(
      ({ headers }, response) => {
        if (headers.authorization === 'Bearer run-2') sendJson(response, { items: [], metadata: {} })
        else sendStatus(response, 401, { reason: 'Unauthorized' })
      },
      async (server) => {
        const cluster = { server: server.url, 'insecure-skip-tls-verify': true }
        const file = write(folder, { cluster, user: plugin(folder, 3_600_000) })
        await connect(kubeconfig({ file }), { userAgent: 'test/1' }).list(namespaces)
        assert.is(readFileSync(join(folder, 'runs'), 'utf8'), '2')
      },
    ),
  ))

test('calls and watches go through the proxy that a kubeconfig names', () =>
  withFolder((folder) =>
    withServer(
      ({ query }, response) => {
        if (query.watch)
          response.writeHead(200).end('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5"}}}\n')
        else sendJson(response, { items: [], metadata: { resourceVersion: '1' } })
      },
      async (server) => {
        const tunnels: string[] = []
        const proxy = createServer().on('connect', ({ url = '' }, socket: Socket) => {
          tunnels.push(url)
          const [host = '', port] = url.split(':')
          const far = dial(Number(port), host, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
          far.pipe(socket).pipe(far)
        })
        proxy.listen(0, '127.0.0.1')
        await once(proxy, 'listening')
        const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
        const cluster = { server: server.url, 'insecure-skip-tls-verify': true, 'proxy-url': proxyUrl }
        const client = connect(kubeconfig({ file: write(folder, { cluster }) }), { userAgent: 'test/1' })
        await client.list(namespaces)
        const stop = new AbortController().signal
        const types = []
        for await (const { type } of client.watch(namespaces, { resourceVersion: '1' }, stop)) types.push(type)
        assert.equal(types, ['BOOKMARK'])
        assert.equal(new Set(tunnels), new Set([new URL(server.url).host]))
        proxy.close()
        proxy.closeAllConnections()
      },
    ),
  ))

const wrong: { name: string; content?: string; user?: object; context?: string; words: RegExp }[] = [
  {
    name: 'an unknown context',
    context: 'there',
    words: /context "there" has no cluster; the contexts are here$/,
  },
  { name: 'an empty file', content: '{}', words: /has no cluster; the file has no contexts$/ },
  { name: 'a plugin that is not installed', user: { exec: { command: 'no-such-plugin' } }, words: /ENOENT/ },
  {
    name: 'a plugin that fails',
    user: { exec: { command: process.execPath, args: ['-e', 'console.error("log in first"); process.exit(3)'] } },
    words: /: log in first$/,
  },
  {
    name: 'a plugin that prints something else',
    user: { exec: { command: process.execPath, args: ['-e', 'console.log("secret-token")'] } },
    words: /the output of its exec plugin is not JSON$/,
  },
  { name: 'a file that is not YAML', content: 'users:\n- {token: secret-token\n  x', words: /is not YAML: / },
]

for (const { name, content, user = {}, context, words } of wrong) {
  test(`the error for ${name} names the file and holds no secret`, () =>
    withFolder(async (folder) => {
      const file = write(folder, { user })
      if (content !== undefined) writeFileSync(file, content)
      const error = await errorOf(kubeconfig({ file, context }).current())
      assert.ok(error.message.startsWith(`kubeconfig ${file}: `), error.message)
      assert.match(error.message, words)
      assert.not.match(`${error.message} ${String(error.cause)}`, /secret-token/)
    }))
}

test('several files are merged, and the first one sets the current context', () =>
  withFolder(async (folder) => {
    const first = join(folder, 'first')
    const contexts = [{ name: 'there', context: { cluster: 'k', user: 'u' } }]
    writeFileSync(first, stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'there', contexts }))
    const second = write(folder, { user: { token: 'tok' } })
    const { url, headers } = await kubeconfig({ file: `${first}${delimiter}${second}` }).current()
    assert.is(url, 'https://192.0.2.1:6443')
    assert.is(headers['authorization'], 'Bearer tok')
  }))

/** The files that the kubelet mounts. */
function writeServiceAccount(root: string): void {
  const folder = join(root, 'var/run/secrets/kubernetes.io/serviceaccount')
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries({ token: 'tok', 'ca.crt': 'a CA', namespace: 'mine' }))
    writeFileSync(join(folder, name), content)
}

const pod = { KUBERNETES_SERVICE_HOST: '192.0.2.1', KUBERNETES_SERVICE_PORT: '443' }

const withoutFile: { name: string; env: Record<string, string>; hasAccount: boolean }[] = [
  { name: 'without a kubeconfig', env: {}, hasAccount: false },
  { name: 'in a pod without a service account', env: pod, hasAccount: false },
  { name: 'with a service account, but not in a pod', env: {}, hasAccount: true },
]
for (const { name, env, hasAccount } of withoutFile) {
  test(`the error ${name} says what to do`, () =>
    inEnvironment(env, async (root) => {
      if (hasAccount) writeServiceAccount(root)
      const error = await errorOf(kubeconfig({ root }).current())
      assert.match(error.message, /^kubeconfig that KUBECONFIG names, or ~\/.kube\/config: no such file; name one/)
    }))
}

test("in a pod without a kubeconfig, the pod's service account is used", () =>
  inEnvironment(pod, async (root) => {
    writeServiceAccount(root)
    const { url, headers, tls, namespace } = await kubeconfig({ root }).current()
    assert.equal([url, headers['authorization'], namespace], ['https://192.0.2.1:443', 'Bearer tok', 'mine'])
    assert.equal(tls, { ca: Buffer.from('a CA') })
  }))

test('without a name, the file in the home folder is read, and before it those of KUBECONFIG', () =>
  inEnvironment(pod, async (root) => {
    writeServiceAccount(root)
    mkdirSync(join(root, '.kube'))
    write(join(root, '.kube'), { cluster: { server: 'https://192.0.2.3:6443' } })
    assert.is((await kubeconfig({ root }).current()).url, 'https://192.0.2.3:6443')
    const named = write(root, { cluster: { server: 'https://192.0.2.4:6443' } })
    process.env['KUBECONFIG'] = named
    assert.is((await kubeconfig({ root }).current()).url, 'https://192.0.2.4:6443')
  }))

for (const { sets, is } of [
  { sets: ['first', 'second'], is: 'first' },
  { sets: ['second'], is: 'second' },
])
  test(`of the files in KUBECONFIG the first one that sets the current context counts, as for kubectl: ${is}`, () =>
    inEnvironment({}, async (root) => {
      const files = ['first', 'second'].map((name) => {
        const cluster = { name, cluster: { server: `https://${name}.test` } }
        const contexts = [{ name, context: { cluster: name, user: name } }]
        const file = join(root, name)
        const current = sets.includes(name) ? { 'current-context': name } : {}
        const config = { ...current, contexts, clusters: [cluster], users: [{ name, user: {} }] }
        writeFileSync(file, stringify({ apiVersion: 'v1', kind: 'Config', ...config }))
        return file
      })
      process.env['KUBECONFIG'] = files.join(delimiter)
      assert.is((await kubeconfig({ root }).current()).url, `https://${is}.test`)
    }))

test('the error for a missing file names it', async () => {
  const error = await errorOf(kubeconfig({ file: '/nowhere/config' }).current())
  assert.match(error.message, /^kubeconfig \/nowhere\/config: ENOENT/)
})

test.run()
