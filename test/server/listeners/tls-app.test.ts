import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority, issueLeaf } from '../../../certs/authority.ts'
import type { CertSource } from '../../../certs/cert-source.ts'
import { tlsApp } from '../../../server/listeners/tls-app.ts'
import { type TlsSettings, tlsOptions } from '../../../settings/tls.ts'

const now = Date.now()
const lifetimeMs = 86_400_000
const authority = await issueAuthority({ commonName: 'ours', now, lifetimeMs })
const leaf = await issueLeaf({ authority, hosts: ['127.0.0.1'], now, lifetimeMs })

const byDefault: TlsSettings = { tlsMinVersion: 'VersionTLS12', tlsCipherSuites: [] }

/** The version and the cipher suite that server and client agree on before and after a renewal; undefined if none. */
async function agreed(settings: TlsSettings, client: tls.ConnectionOptions): Promise<(string | undefined)[]> {
  const renewals: (() => void)[] = []
  const certs = { current: () => leaf, onChange: (listener) => void renewals.push(listener) } as CertSource
  const app = tlsApp(certs, tlsOptions(settings))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  try {
    const before = await handshake({ port, ...client })
    for (const renew of renewals) renew()
    return [before, await handshake({ port, ...client })]
  } finally {
    app.server.closeAllConnections()
    await app.close()
  }
}

async function handshake(options: tls.ConnectionOptions): Promise<string | undefined> {
  const socket = tls.connect({ host: '127.0.0.1', rejectUnauthorized: false, ...options })
  try {
    await once(socket, 'secureConnect')
    return `${socket.getProtocol()} ${socket.getCipher().standardName}`
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}

const old: tls.ConnectionOptions = { maxVersion: 'TLSv1.2', ciphers: 'ALL:@SECLEVEL=0' }
const only = (ciphers: string): tls.ConnectionOptions => ({ maxVersion: 'TLSv1.2', ciphers })
const small = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'

const cases: {
  name: string
  settings?: Partial<TlsSettings>
  client: tls.ConnectionOptions
  gets: string | undefined
}[] = [
  { name: 'a client of today', client: {}, gets: 'TLSv1.3 TLS_AES_128_GCM_SHA256' },
  { name: 'TLS 1.1', client: { ...old, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }, gets: undefined },
  { name: 'TLS 1.2 without forward secrecy', client: only('AES128-GCM-SHA256:AES256-SHA'), gets: undefined },
  { name: 'TLS 1.2 without authentication of data', client: only('ECDHE-RSA-AES128-SHA'), gets: undefined },
  { name: 'TLS 1.2', client: only('ECDHE-RSA-AES128-GCM-SHA256'), gets: `TLSv1.2 ${small}` },
  { name: 'TLS 1.2 where 1.3 is required', settings: { tlsMinVersion: 'VersionTLS13' }, client: old, gets: undefined },
  { name: 'a suite that was chosen', settings: { tlsCipherSuites: [small] }, client: old, gets: `TLSv1.2 ${small}` },
  {
    name: 'a suite that was not',
    settings: { tlsCipherSuites: [small] },
    client: only('ECDHE-RSA-AES256-GCM-SHA384'),
    gets: undefined,
  },
]

for (const { name, settings, client, gets } of cases)
  test(`${name} gets ${gets ?? 'no connection'}`, async () => {
    assert.equal(await agreed({ ...byDefault, ...settings }, client), [gets, gets])
  })

test.run()
