import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority, issueLeaf } from '../../../certs/authority.ts'
import type { CertSource, KeyPair } from '../../../certs/cert-source.ts'
import { readAuthorities } from '../../../certs/authorities-file.ts'
import { clientAuthorities } from '../../../server/listeners/client-authorities.ts'
import { tlsApp } from '../../../server/listeners/tls-app.ts'
import { issueClient } from '../../fakes/client-certificate.ts'
import { silentLog } from '../../fakes/log.ts'
import { fakeClock } from '../../kube/fake-clock.ts'

const now = Date.now()
const lifetimeMs = 86_400_000
const newAuthority = (commonName: string) => issueAuthority({ commonName, now, lifetimeMs })
const [ours, theirs] = await Promise.all([newAuthority('ours'), newAuthority('theirs')])
const leaf = await issueLeaf({ authority: ours, hosts: ['127.0.0.1'], now, lifetimeMs })
const apiServer = issueClient({ authority: ours, name: 'kube-apiserver' })
const node = issueClient({ authority: ours, name: 'system:node:worker-1' })
const stranger = issueClient({ authority: theirs, name: 'kube-apiserver' })

type Answer = { status: number; error: string | undefined; closes: boolean }

/** A door that knows its clients, with a file of authorities that the test may write. */
async function withDoor(
  names: string[],
  play: (door: {
    ask: Ask
    port: number
    replaceFile: (text: string) => Promise<void>
    renewLeaf: () => void
  }) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
  const path = join(dir, 'ca.crt')
  writeFileSync(path, ours.cert)
  const clock = fakeClock()
  const over = new AbortController()
  const authorities = clientAuthorities({ path, log: silentLog, clock })
  authorities.start(over.signal)
  const renewals: (() => void)[] = []
  const certs = { current: () => leaf, onChange: (listener) => void renewals.push(listener) } as CertSource
  const app = tlsApp(certs, {}, { authorities, names, log: silentLog })
  app.get('/', async () => ({}))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const replaceFile = async (text: string) => {
    writeFileSync(path, text)
    await clock.pass(3_000)
  }
  try {
    await play({ ask: asking(port), port, replaceFile, renewLeaf: () => renewals.forEach((renew) => renew()) })
  } finally {
    over.abort()
    await app.close()
    rmSync(dir, { recursive: true })
  }
}

type Ask = (client: KeyPair | undefined, agent?: Agent, path?: string) => Promise<Answer>

function asking(port: number): Ask {
  return async (client, agent = new Agent(), path = '/') => {
    const call = request({ port, host: '127.0.0.1', path, agent, rejectUnauthorized: false, ...client }).end()
    const [answer] = (await once(call, 'response')) as [import('node:http').IncomingMessage]
    const text = (await answer.setEncoding('utf8').toArray()).join('')
    const { error } = JSON.parse(text) as { error?: string }
    return { status: answer.statusCode ?? 0, error, closes: answer.headers.connection === 'close' }
  }
}

test('a caller with a certificate of a known authority is answered', () =>
  withDoor([], async ({ ask }) => {
    for (const client of [apiServer, node]) assert.is((await ask(client)).status, 200)
  }))

for (const { name, client, says } of [
  { name: 'without a certificate', client: undefined, says: 'no client certificate from a known CA was presented' },
  { name: 'with a certificate of another authority', client: stranger, says: 'the client certificate cannot be used' },
  { name: 'with a certificate for another use', client: leaf, says: 'the client certificate cannot be used' },
]) {
  test(`a caller ${name} is turned away, and reads why`, () =>
    withDoor([], async ({ ask }) => {
      const { status, error, closes } = await ask(client)
      assert.equal([status, closes], [403, true])
      assert.match(error ?? '', says)
    }))
}

test('an unknown caller is turned away on any path, even one that is not served', () =>
  withDoor([], async ({ ask }) => {
    const { status, error } = await ask(undefined, new Agent(), '/unknown')
    assert.is(status, 403)
    assert.match(error ?? '', 'no client certificate from a known CA was presented')
    assert.is((await ask(apiServer, new Agent(), '/unknown')).status, 404)
  }))

test('only callers whose names are allowed are answered, not everyone with a certificate', () =>
  withDoor(['front-proxy', 'kube-apiserver'], async ({ ask }) => {
    assert.is((await ask(apiServer)).status, 200)
    const { status, error } = await ask(node)
    assert.is(status, 403)
    assert.match(error ?? '', '"system:node:worker-1"')
  }))

test('a renewed serving certificate does not let unknown callers in', () =>
  withDoor([], async ({ ask, renewLeaf }) => {
    renewLeaf()
    assert.equal(
      [(await ask(undefined)).status, (await ask(stranger)).status, (await ask(apiServer)).status],
      [403, 403, 200],
    )
  }))

test('who may call changes with the file, also for connections that are open and sessions that are resumed', () =>
  withDoor([], async ({ ask, port, replaceFile }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    assert.equal(await ask(apiServer, agent), { status: 200, error: undefined, closes: false })
    const session = await sessionOf(port, apiServer)
    assert.is(await resumed(port, { ...apiServer, session }), 'HTTP/1.1 200 OK')
    await replaceFile(theirs.cert)
    assert.ok((await ask(apiServer, agent)).closes, 'the open connection ends')
    assert.is((await ask(apiServer, agent)).status, 403)
    assert.is(await resumed(port, { ...apiServer, session }), 'HTTP/1.1 403 Forbidden')
    assert.is((await ask(stranger)).status, 200)
    await replaceFile(ours.cert + theirs.cert)
    assert.equal([(await ask(apiServer)).status, (await ask(stranger)).status], [200, 200])
  }))

test('a file that is damaged later changes nothing', () =>
  withDoor([], async ({ ask, replaceFile }) => {
    for (const text of ['', 'garbage', leaf.cert]) {
      await replaceFile(text)
      assert.equal([(await ask(apiServer)).status, (await ask(stranger)).status], [200, 403])
    }
  }))

/** A session that a client got from the server and may come back with. */
async function sessionOf(port: number, client: KeyPair): Promise<Buffer> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...client })
  socket.on('data', () => undefined)
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  const [session] = (await once(socket, 'session')) as [Buffer]
  socket.destroy()
  return session
}

async function resumed(port: number, client: KeyPair & { session: Buffer }): Promise<string> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...client })
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  const [text] = (await once(socket.setEncoding('utf8'), 'data')) as [string]
  socket.destroy()
  return text.slice(0, text.indexOf('\r\n'))
}

const dir = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
for (const [name, text, says] of [
  ['holds nothing', '', 'holds no certificate'],
  ['holds a private key', ours.key, 'holds no certificate'],
  [
    "holds a caller's own certificate",
    apiServer.cert,
    'contains the certificate of CN=kube-apiserver, which is not a CA',
  ],
] as const) {
  test(`a file that ${name} is not taken for one of authorities`, () => {
    const path = join(dir, 'ca.crt')
    writeFileSync(path, text)
    assert.is(readAuthorities(path).wrong, says)
  })
}

test('an authority without its issuer, or one that has expired, is not taken', async () => {
  const path = join(dir, 'ca.crt')
  const expired = await issueAuthority({ commonName: 'old', now: now - 2 * lifetimeMs, lifetimeMs })
  writeFileSync(path, expired.cert)
  assert.is(readAuthorities(path).wrong, 'contains only expired certificates')
  writeFileSync(path, expired.cert + ours.cert)
  assert.is(readAuthorities(path).wrong, undefined)
  assert.is(readAuthorities(join(dir, 'none.crt')).wrong, 'does not exist')
  rmSync(dir, { recursive: true })
})

test.run()
