import { generateKeyPairSync } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Authorities, foreignReason, planAuthorities, carryOut } from '../../certs/authorities.ts'
import { issueAuthority, issueLeaf } from '../../certs/authority.ts'
import { mergeBundles, isSameBundle } from '../../certs/bundle.ts'
import { defaultLifetimes } from '../../certs/lifetimes.ts'
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
const leader = { now, lifetimes: defaultLifetimes, mayRotate: true, isTrusted: () => true }

const cases = [
  { name: 'a fresh authority needs nothing', authorities: {}, facts: {}, step: undefined },
  { name: 'a missing authority is made', authorities: { signing: nothing }, facts: {}, step: 'make' },
  {
    name: 'any replica makes a missing authority',
    authorities: { signing: nothing },
    facts: { mayRotate: false },
    step: 'make',
  },
  { name: 'a damaged authority is replaced by a new one', authorities: { signing: broken }, facts: {}, step: 'make' },
  { name: 'an expired authority is replaced by a new one', authorities: { signing: expired }, facts: {}, step: 'make' },
  {
    name: 'an authority that is not valid yet is replaced by a new one',
    authorities: {},
    facts: { now: now - day },
    step: 'make',
  },
  {
    name: 'a damaged authority is replaced by its successor at once',
    authorities: { signing: broken, next: fresh },
    facts: { mayRotate: false, isTrusted: () => false },
    step: 'promote',
  },
  {
    name: 'a successor is published in the last third of an authority',
    authorities: { signing: ageing },
    facts: {},
    step: 'publish',
  },
  { name: 'only the leader publishes', authorities: { signing: ageing }, facts: { mayRotate: false }, step: undefined },
  {
    name: 'a successor does not sign until it is trusted',
    authorities: { signing: ageing, next: fresh },
    facts: { isTrusted: () => false },
    step: undefined,
  },
  {
    name: 'a trusted successor is promoted',
    authorities: { signing: ageing, next: fresh },
    facts: {},
    step: 'promote',
  },
  {
    name: 'only the leader promotes',
    authorities: { signing: ageing, next: fresh },
    facts: { mayRotate: false },
    step: undefined,
  },
  {
    name: 'a damaged successor is replaced by a new one',
    authorities: { signing: ageing, next: broken },
    facts: {},
    step: 'publish',
  },
  {
    name: 'an earlier authority stays trusted while its leaves may be in use',
    authorities: { trusted: fresh.cert + earlier.cert },
    facts: { now: now + 7.9 * day },
    step: undefined,
  },
  {
    name: 'an earlier authority is retired after its last leaf',
    authorities: { trusted: fresh.cert + earlier.cert },
    facts: { now: now + 8 * day },
    step: 'retire',
  },
  {
    name: 'only the leader retires',
    authorities: { trusted: fresh.cert + earlier.cert },
    facts: { now: now + 8 * day, mayRotate: false },
    step: undefined,
  },
  {
    name: 'a damaged successor is retired too',
    authorities: { next: broken, trusted: fresh.cert + earlier.cert },
    facts: { now: now + 8 * day },
    step: 'retire',
  },
  {
    name: 'a single trusted authority needs no retirement',
    authorities: {},
    facts: { now: now + 8 * day },
    step: undefined,
  },
]

for (const { name, authorities, facts, step } of cases) {
  test(name, () => assert.is(planAuthorities({ ...base, ...authorities }, { ...leader, ...facts })?.do, step))
}

test('during a rotation both authorities are trusted until the old one is retired', async () => {
  const options = { now, lifetimes: defaultLifetimes, commonName: 'a CA', alsoTrusted: '' }
  const start: Authorities = { ...base, signing: ageing, trusted: ageing.cert, signingSinceMs: now - 300 * day }
  const published = await carryOut({ do: 'publish', reason: '' }, start, options)
  const next = published.next ?? nothing
  const both = mergeBundles([ageing.cert, next.cert], now)
  assert.equal(published.signing, ageing)
  assert.ok(isSameBundle(published.trusted, both))
  const promoted = await carryOut({ do: 'promote', reason: '', next }, published, options)
  assert.equal(promoted, { signing: next, next: undefined, trusted: published.trusted, signingSinceMs: now })
  const retired = await carryOut({ do: 'retire', reason: '' }, promoted, options)
  assert.ok(isSameBundle(retired.trusted, next.cert))
})

test('a new authority keeps all other certificates trusted', async () => {
  const damaged: Authorities = { ...base, signing: broken, trusted: earlier.cert }
  const made = await carryOut({ do: 'make', reason: '' }, damaged, {
    now,
    lifetimes: defaultLifetimes,
    commonName: 'a CA',
    alsoTrusted: ageing.cert + expired.cert,
  })
  assert.ok(isSameBundle(made.trusted, made.signing.cert + earlier.cert + ageing.cert))
})

test('a leaf, or a key that we cannot sign with, is not taken for our authority', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const elliptic = { cert: fresh.cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
  const leaf = await issueLeaf({ authority: fresh, hosts: ['localhost'], now, lifetimeMs: day })
  assert.match(foreignReason(leaf) ?? '', 'a certificate that is not a CA')
  assert.match(foreignReason(elliptic) ?? '', 'a key of type ec')
  assert.is(foreignReason(fresh), undefined)
})

test.run()
