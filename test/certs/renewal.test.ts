import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import { renewalReason } from '../../certs/renewal.ts'
import { day } from './replica.ts'

const now = Date.UTC(2026, 0, 1)
const authority = await issueAuthority({ commonName: 'a CA', now, lifetimeMs: 365 * day })
const namesake = await issueAuthority({ commonName: 'a CA', now, lifetimeMs: 365 * day })
const hosts = ['hook.eip.svc', '127.0.0.1', '::1']
const leaf = await issueLeaf({ authority, hosts, now, lifetimeMs: 7 * day })
const lastLeaf = await issueLeaf({ authority, hosts, now: now + 364.99 * day, lifetimeMs: 7 * day })
const wanted = { hosts, authority: authority.cert }

const cases = [
  { name: 'a fresh leaf is kept', pair: leaf, at: now, wanted, reason: undefined },
  {
    name: 'a leaf is kept until a third of its lifetime is left',
    pair: leaf,
    at: now + 4.6 * day,
    wanted,
    reason: undefined,
  },
  { name: 'a leaf is renewed in its last third', pair: leaf, at: now + 4.7 * day, wanted, reason: /less than a third/ },
  { name: 'an expired leaf is renewed', pair: leaf, at: now + 7 * day, wanted, reason: /expired at 2026-01-08/ },
  {
    name: 'a leaf that is not valid yet is renewed',
    pair: leaf,
    at: now - day,
    wanted,
    reason: /not valid before 2025-12-31T23/,
  },
  {
    name: 'a leaf that expires with its authority is kept',
    pair: lastLeaf,
    at: now + 364.999 * day,
    wanted,
    reason: undefined,
  },
  {
    name: 'a new DNS name needs a new leaf',
    pair: leaf,
    at: now,
    wanted: { ...wanted, hosts: [...hosts, 'hook.other.svc'] },
    reason: /does not name hook.other.svc/,
  },
  {
    name: 'a new IP address needs a new leaf',
    pair: leaf,
    at: now,
    wanted: { ...wanted, hosts: [...hosts, '2001:db8::5'] },
    reason: /does not name 2001:db8::5/,
  },
  {
    name: 'an IPv6 address in another notation is the same address',
    pair: leaf,
    at: now,
    wanted: { ...wanted, hosts: ['0:0:0:0:0:0:0:1'] },
    reason: undefined,
  },
  {
    name: 'a name that is no longer needed does not need a new leaf',
    pair: leaf,
    at: now,
    wanted: { ...wanted, hosts: [] },
    reason: undefined,
  },
  {
    name: 'another authority of the same name needs a new leaf',
    pair: leaf,
    at: now,
    wanted: { ...wanted, authority: namesake.cert },
    reason: /not issued by the current CA/,
  },
  {
    name: 'the key of another certificate is a reason',
    pair: { ...leaf, key: authority.key },
    at: now,
    wanted,
    reason: /not the key/,
  },
  {
    name: 'a missing certificate is a reason',
    pair: { ...leaf, cert: '' },
    at: now,
    wanted,
    reason: /no certificate/,
  },
  {
    name: 'a damaged certificate is a reason',
    pair: { ...leaf, cert: leaf.cert.slice(99) },
    at: now,
    wanted,
    reason: /malformed/,
  },
  {
    name: 'a missing key is a reason',
    pair: { ...leaf, key: '' },
    at: now,
    wanted,
    reason: /no private key/,
  },
  {
    name: 'a damaged key is a reason',
    pair: { ...leaf, key: 'PEM' },
    at: now,
    wanted,
    reason: /private key is malformed/,
  },
  {
    name: 'an authority is kept in its first two thirds',
    pair: authority,
    at: now + 243 * day,
    wanted: {},
    reason: undefined,
  },
  {
    name: 'an authority is renewed in its last third',
    pair: authority,
    at: now + 244 * day,
    wanted: {},
    reason: /a third/,
  },
]

for (const { name, pair, at, wanted, reason } of cases) {
  test(name, () => {
    const found = renewalReason(pair, at, wanted)
    if (reason) assert.match(found ?? 'no reason', reason)
    else assert.is(found, undefined)
  })
}

test('no reason contains a key', () => {
  for (const { pair, at, wanted } of cases) assert.not.match(renewalReason(pair, at, wanted) ?? '', /PRIVATE|MII/)
})

test.run()
