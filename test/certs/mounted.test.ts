import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import type { CertSource, KeyPair } from '../../certs/cert-source.ts'
import { mountedCertificate } from '../../certs/mounted.ts'
import { fakeClock } from '../kube/fake-clock.ts'
import { type LogLine, recordedLog } from '../kube/recorded-log.ts'

const hosts = ['hook.eip.svc']
const hourMs = 3_600_000
const now = fakeClock().date().getTime()
const authority = await issueAuthority({ commonName: 'theirs', now, lifetimeMs: 100 * hourMs })
const issue = (at = now) => issueLeaf({ authority, hosts, now: at, lifetimeMs: hourMs })
const [first, second, expired] = await Promise.all([issue(), issue(), issue(now - 3 * hourMs)])

const shortKeys = generateKeyPairSync('rsa', {
  modulusLength: 1024,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const short = await issueLeaf({ authority, hosts, now, lifetimeMs: hourMs, keys: Promise.resolve(shortKeys) })

type Scene = {
  source: CertSource
  folder: string
  lines: LogLine[]
  changes: () => number
  pass: (ms?: number) => Promise<void>
  start: () => Promise<void>
}

async function withFolder(play: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'eip-admission-test-'))
  const clock = fakeClock()
  const over = new AbortController()
  const log = recordedLog()
  const source = mountedCertificate({ folder, log, clock })
  let changes = 0
  source.onChange(() => (changes += 1))
  try {
    await play({
      source,
      folder,
      lines: log.lines,
      changes: () => changes,
      pass: (ms = 2_000) => clock.pass(ms),
      start: () => source.start(over.signal),
    })
  } finally {
    over.abort()
    rmSync(folder, { recursive: true })
  }
}

function write(folder: string, { cert, key }: Partial<KeyPair>): void {
  if (cert !== undefined) writeFileSync(join(folder, 'tls.crt'), cert)
  if (key !== undefined) writeFileSync(join(folder, 'tls.key'), key)
}

let versions = 0

/** Changes the files as the kubelet does: a new folder, then the exchange of a link. */
function mount(folder: string, pair: KeyPair): void {
  const version = `..version-${(versions += 1)}`
  mkdirSync(join(folder, version))
  write(join(folder, version), pair)
  symlinkSync(version, join(folder, '..next'))
  renameSync(join(folder, '..next'), join(folder, '..data'))
}

test('a certificate that is there is served at once', () =>
  withFolder(async ({ source, folder, start }) => {
    write(folder, first)
    await start()
    assert.equal(source.current(), first)
    assert.is(source.notReady(), undefined)
    assert.is(source.notAfterMs(), Math.floor((now + hourMs) / 1000) * 1000)
  }))

test('without a certificate the start does not wait; the process serves a temporary one and is not ready', () =>
  withFolder(async ({ source, folder, start, pass, lines, changes }) => {
    await start()
    assert.match(source.current()?.cert ?? '', /BEGIN CERTIFICATE/)
    assert.is(source.notAfterMs(), undefined)
    assert.is(source.notReady(), 'there is no serving certificate yet: tls.crt and tls.key cannot be read (ENOENT)')
    mount(folder, first)
    await pass()
    assert.equal(source.current(), first)
    assert.is(source.notReady(), undefined)
    assert.is(changes(), 1)
    assert.equal(
      lines.map(({ message }) => message),
      ['there is no serving certificate yet', 'serving certificate read'],
    )
  }))

test('a renewed Secret is read within seconds, and once', () =>
  withFolder(async ({ source, folder, start, pass, changes }) => {
    mount(folder, first)
    await start()
    mount(folder, second)
    await pass()
    assert.equal(source.current(), second)
    await pass(60_000)
    assert.is(changes(), 2)
  }))

const wrong: [string, (folder: string) => void, RegExp][] = [
  ['with the key of another one', (folder) => write(folder, { cert: second.cert }), /key is not the key/],
  ['that is half written', (folder) => write(folder, { cert: second.cert.slice(0, 400) }), /malformed/],
  [
    'whose chain is half written',
    (folder) => write(folder, { ...second, cert: second.cert + authority.cert.slice(0, 400) }),
    /cannot be read \(ERR_OSSL_PEM_BAD_END_LINE\)/,
  ],
  ['with a short key', (folder) => write(folder, short), /cannot be read \(ERR_SSL_EE_KEY_TOO_SMALL\)/],
  ['that is empty', (folder) => write(folder, { cert: '' }), /there is no certificate/],
  ['with an empty key', (folder) => write(folder, { ...second, key: '' }), /there is no private key/],
  ['that no longer exists', (folder) => unlinkSync(join(folder, 'tls.crt')), /cannot be read \(ENOENT\)/],
  ['that has expired', (folder) => write(folder, expired), /expired at/],
]

for (const [name, harm, reason] of wrong) {
  test(`a certificate ${name} replaces nothing, is reported once, and the next good one is read`, () =>
    withFolder(async ({ source, folder, start, pass, lines, changes }) => {
      write(folder, first)
      await start()
      harm(folder)
      await pass(20_000)
      assert.equal(source.current(), first)
      assert.is(source.notReady(), undefined)
      const warnings = lines.filter(({ level }) => level === 'warn')
      assert.is(warnings.length, 1)
      assert.match(String(warnings[0]?.fields['wrong']), reason)
      assert.not.match(JSON.stringify(lines), /PRIVATE KEY/)
      write(folder, second)
      await pass()
      assert.equal(source.current(), second)
      assert.is(changes(), 2)
    }))
}

test('a certificate that nobody renews is served on after its end, and the process is not ready', () =>
  withFolder(async ({ source, folder, start, pass }) => {
    write(folder, first)
    await start()
    await pass(hourMs + 2_000)
    assert.equal(source.current(), first)
    assert.match(source.notReady() ?? '', /cannot be used: expired/)
  }))

test.run()
