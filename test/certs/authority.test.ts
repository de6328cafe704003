import { X509Certificate } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import { day } from './replica.ts'

const now = Date.UTC(2026, 0, 1)
const hosts = ['hook.eip.svc', '127.0.0.1', '2001:db8::1']
const newAuthority = () => issueAuthority({ commonName: 'a CA', now, lifetimeMs: 365 * day })

test('an authority is self-signed, is a CA, and is valid from an hour ago for its whole lifetime', async () => {
  const authority = new X509Certificate((await newAuthority()).cert)
  assert.is(authority.subject, 'CN=a CA')
  assert.ok(authority.ca)
  assert.ok(authority.verify(authority.publicKey))
  assert.is(authority.validFromDate.getTime(), now - 60 * 60 * 1000)
  assert.is(authority.validToDate.getTime(), now + 365 * day)
})

test('a leaf has its hosts, is not a CA, serves TLS and has its own key', async () => {
  const authority = await newAuthority()
  const pair = await issueLeaf({ authority, hosts, now, lifetimeMs: 7 * day })
  const leaf = new X509Certificate(pair.cert)
  assert.is(leaf.subjectAltName, 'DNS:hook.eip.svc, IP Address:127.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1')
  assert.equal(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  assert.not(leaf.ca)
  assert.ok(leaf.verify(new X509Certificate(authority.cert).publicKey))
  assert.is.not(pair.key, authority.key)
  assert.is(leaf.validToDate.getTime(), now + 7 * day)
})

test('a leaf expires with its authority at the latest', async () => {
  const authority = await newAuthority()
  const pair = await issueLeaf({ authority, hosts, now: now + 363 * day, lifetimeMs: 7 * day })
  assert.is(new X509Certificate(pair.cert).validToDate.getTime(), now + 365 * day)
})

test('every serial number is unique and positive', async () => {
  const serials = await Promise.all([newAuthority(), newAuthority()])
  const [first, second] = serials.map(({ cert }) => new X509Certificate(cert).serialNumber)
  assert.match(first ?? '', /^[4-7][0-9A-F]{31}$/)
  assert.match(second ?? '', /^[4-7][0-9A-F]{31}$/)
  assert.is.not(first, second)
})

test('a certificate can have a Service name that is too long for a common name', async () => {
  const long = `${'s'.repeat(63)}.${'n'.repeat(63)}.svc`
  const pair = await issueLeaf({ authority: await newAuthority(), hosts: [long], now, lifetimeMs: day })
  assert.is(new X509Certificate(pair.cert).checkHost(long), long)
})

test('issuing blocks the event loop for 60 ms at most', async () => {
  const before = process.threadCpuUsage()
  await issueLeaf({ authority: await newAuthority(), hosts, now, lifetimeMs: day })
  // The processor time of this thread: others may run meanwhile, and key generation has threads of its own.
  const { user, system } = process.threadCpuUsage(before)
  assert.ok(user + system < 60_000, `held up for ${(user + system) / 1000} ms`)
})

test.run()
