import { generateKeyPairSync } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Authorities, foreignReason, planAuthorities, takeStep } from '../../certs/authorities.ts'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import { mergeBundles, sameBundle } from '../../certs/bundle.ts'
import { usualLifetimes } from '../../certs/lifetimes.ts'
import { day } from './replica.ts'

const now = Date.UTC(2026, 0, 1)
const newAuthority = (issuedMs: number) => issueAuthority({ commonName: 'a CA', now: issuedMs, lifetimeMs: 365 * day })
const [fresh, ageing, expired, earlier] = await Promise.all([
  newAuthority(now),
  newAuthority(now - 300 * day),
  newAuthority(now - 366 * day),
  newAuthority(now - 250 * day),
])
const broken = { ...fresh, key: 'no key' }
const nothing = { cert: '', key: '' }

const base: Authorities = { signing: fresh, next: undefined, trusted: fresh.cert, signingSinceMs: now }
const leader = { now, lifetimes: usualLifetimes, mayRotate: true, settled: () => true }

const cases = [
  { name: 'a fresh authority needs nothing', authorities: {}, view: {}, step: undefined },
  { name: 'without an authority one is made', authorities: { signing: nothing }, view: {}, step: 'make' },
  {
    name: 'without an authority any replica makes one',
    authorities: { signing: nothing },
    view: { mayRotate: false },
    step: 'make',
  },
  { name: 'a broken authority is made anew', authorities: { signing: broken }, view: {}, step: 'make' },
  { name: 'an expired authority is made anew', authorities: { signing: expired }, view: {}, step: 'make' },
  { name: 'an authority from the future is made anew', authorities: {}, view: { now: now - day }, step: 'make' },
  {
    name: 'a broken authority gives way to its successor at once',
    authorities: { signing: broken, next: fresh },
    view: { mayRotate: false, settled: () => false },
    step: 'promote',
  },
  { name: 'an ageing authority gets a successor', authorities: { signing: ageing }, view: {}, step: 'publish' },
  { name: 'only the leader publishes', authorities: { signing: ageing }, view: { mayRotate: false }, step: undefined },
  {
    name: 'a successor waits until it is trusted',
    authorities: { signing: ageing, next: fresh },
    view: { settled: () => false },
    step: undefined,
  },
  { name: 'a trusted successor takes over', authorities: { signing: ageing, next: fresh }, view: {}, step: 'promote' },
  {
    name: 'only the leader promotes',
    authorities: { signing: ageing, next: fresh },
    view: { mayRotate: false },
    step: undefined,
  },
  {
    name: 'a broken successor is made anew',
    authorities: { signing: ageing, next: broken },
    view: {},
    step: 'publish',
  },
  {
    name: 'an earlier authority stays while its leaves may live',
    authorities: { trusted: fresh.cert + earlier.cert },
    view: { now: now + 7.9 * day },
    step: undefined,
  },
  {
    name: 'an earlier authority goes when its leaves are gone',
    authorities: { trusted: fresh.cert + earlier.cert },
    view: { now: now + 8 * day },
    step: 'retire',
  },
  {
    name: 'only the leader retires',
    authorities: { trusted: fresh.cert + earlier.cert },
    view: { now: now + 8 * day, mayRotate: false },
    step: undefined,
  },
  {
    name: 'what is left of a broken successor goes too',
    authorities: { next: broken, trusted: fresh.cert + earlier.cert },
    view: { now: now + 8 * day },
    step: 'retire',
  },
  {
    name: 'alone in the trust an authority has nothing to retire',
    authorities: {},
    view: { now: now + 8 * day },
    step: undefined,
  },
]

for (const { name, authorities, view, step } of cases) {
  test(name, () => assert.is(planAuthorities({ ...base, ...authorities }, { ...leader, ...view })?.do, step))
}

test('a rotation trusts the old and the new from its first step until the old one is retired', async () => {
  const options = { now, lifetimes: usualLifetimes, commonName: 'a CA', strays: '' }
  const start: Authorities = { ...base, signing: ageing, trusted: ageing.cert, signingSinceMs: now - 300 * day }
  const published = await takeStep({ do: 'publish', why: '' }, start, options)
  const next = published.next ?? nothing
  const both = mergeBundles([ageing.cert, next.cert], now)
  assert.equal(published.signing, ageing)
  assert.ok(sameBundle(published.trusted, both))
  const promoted = await takeStep({ do: 'promote', why: '', next }, published, options)
  assert.equal(promoted, { signing: next, next: undefined, trusted: published.trusted, signingSinceMs: now })
  const retired = await takeStep({ do: 'retire', why: '' }, promoted, options)
  assert.ok(sameBundle(retired.trusted, next.cert))
})

test('a new authority pushes nothing out of the trust', async () => {
  const damaged: Authorities = { ...base, signing: broken, trusted: earlier.cert }
  const made = await takeStep({ do: 'make', why: '' }, damaged, {
    now,
    lifetimes: usualLifetimes,
    commonName: 'a CA',
    strays: ageing.cert + expired.cert,
  })
  assert.ok(sameBundle(made.trusted, made.signing.cert + earlier.cert + ageing.cert))
})

test('a serving certificate, or a key that we cannot sign with, is not taken for an authority of ours', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const elliptic = { cert: fresh.cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
  const leaf = await issueLeaf({ authority: fresh, hosts: ['localhost'], now, lifetimeMs: day })
  assert.match(foreignReason(leaf) ?? '', 'not a certificate authority')
  assert.match(foreignReason(elliptic) ?? '', 'a key of type ec')
  assert.is(foreignReason(fresh), undefined)
})

test.run()
