import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import { mergeBundles } from '../../certs/bundle.ts'
import { handshake, startTlsServer } from './handshake.ts'
import { day } from './replica.ts'

const now = Date.now()
const newAuthority = () => issueAuthority({ commonName: 'a CA', now, lifetimeMs: 365 * day })
const [authority, namesake] = await Promise.all([newAuthority(), newAuthority()])
const hosts = ['hook.eip.svc', 'hook.eip.svc.cluster.local', 'localhost', '127.0.0.1', '::1', '2001:db8::1']
const leaf = await issueLeaf({ authority, hosts, now, lifetimeMs: 7 * day })

const both = mergeBundles([authority.cert, namesake.cert], now)

const cases = [
  ...hosts.map((host) => ({ name: `${host} is accepted`, ca: authority.cert, host, result: 'ok' })),
  {
    name: 'another Service name is refused',
    ca: authority.cert,
    host: 'other.eip.svc',
    result: 'ERR_TLS_CERT_ALTNAME_INVALID',
  },
  {
    name: 'another IPv4 address is refused',
    ca: authority.cert,
    host: '127.0.0.2',
    result: 'ERR_TLS_CERT_ALTNAME_INVALID',
  },
  { name: 'another IPv6 address is refused', ca: authority.cert, host: '::2', result: 'ERR_TLS_CERT_ALTNAME_INVALID' },
  {
    name: 'the common name alone is refused',
    ca: authority.cert,
    host: 'eip-admission',
    result: 'ERR_TLS_CERT_ALTNAME_INVALID',
  },
  { name: 'an authority among others of its name is found', ca: both, host: 'hook.eip.svc', result: 'ok' },
  {
    name: 'another authority of the same name is refused',
    ca: namesake.cert,
    host: 'hook.eip.svc',
    result: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  },
  {
    name: 'a client that trusts nothing refuses',
    ca: '',
    host: 'hook.eip.svc',
    result: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  },
]

for (const { name, ca, host, result } of cases) {
  test(name, async () => {
    const server = await startTlsServer(leaf)
    const actual = await handshake(server.port, ca, host)
    server.close()
    assert.is(actual, result)
  })
}

test('an expired certificate is refused', async () => {
  const old = await issueLeaf({ authority, hosts, now: now - day, lifetimeMs: day - 1000 })
  const server = await startTlsServer(old)
  const actual = await handshake(server.port, authority.cert)
  server.close()
  assert.is(actual, 'CERT_HAS_EXPIRED')
})

test.run()
