import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority } from '../../certs/authority.ts'
import {
  hasCertificates,
  certificatesIn,
  fromCaBundle,
  mergeBundles,
  isSameBundle,
  toCaBundle,
} from '../../certs/bundle.ts'
import { day } from './replica.ts'

const now = Date.UTC(2026, 0, 1)
const newCert = async (lifetimeMs: number) => (await issueAuthority({ commonName: 'a CA', now, lifetimeMs })).cert
const [one, two, short] = await Promise.all([newCert(365 * day), newCert(365 * day), newCert(day)])
const both = mergeBundles([one, two], now)

const cases = [
  { name: 'no text makes an empty bundle', pems: [], at: now, holds: [] },
  { name: 'two certificates are kept', pems: [one, two], at: now, holds: [one, two] },
  { name: 'a certificate that comes twice is kept once', pems: [one, two + one, one], at: now, holds: [one, two] },
  { name: 'an expired certificate is dropped', pems: [one, short], at: now + day, holds: [one] },
  { name: 'a certificate is kept until it expires', pems: [one, short], at: now + day - 1, holds: [one, short] },
  {
    name: 'text between certificates is dropped',
    pems: [`# ours\n${one}\n\n;-- \n${two}`],
    at: now,
    holds: [one, two],
  },
  { name: 'a block that cannot be parsed is dropped', pems: [one.replaceAll('M', 'x'), two], at: now, holds: [two] },
  { name: 'a block without an end does not hide the next one', pems: [one.slice(0, 200) + two], at: now, holds: [two] },
  { name: 'Windows line ends are accepted', pems: [one.replaceAll('\n', '\r\n')], at: now, holds: [one] },
  {
    name: 'garbage has no certificate',
    pems: ['\0\xff garbage', 'null', '-----BEGIN CERTIFICATE-----'],
    at: now,
    holds: [],
  },
]

for (const { name, pems, at, holds } of cases) {
  test(name, () => {
    const bundle = mergeBundles(pems, at)
    assert.is(certificatesIn(bundle).length, holds.length)
    for (const pem of holds) assert.ok(hasCertificates(bundle, pem))
  })
}

test('a bundle is the same text in any order of its parts', () => {
  assert.is(mergeBundles([two, one], now), both)
  assert.is(mergeBundles([both, two], now), both)
})

test('bundles are compared by their certificates', () => {
  assert.ok(isSameBundle(`${two}garbage\n${one}`, both))
  assert.not(isSameBundle(one, both))
  assert.not(isSameBundle(both, one))
})

test('a bundle survives its caBundle form', () => {
  assert.is(fromCaBundle(toCaBundle(both)), both)
})

for (const caBundle of [undefined, '', 'Cg==', '!!! no base64', Buffer.from([0, 255, 128]).toString('base64')]) {
  test(`the caBundle ${caBundle} has no certificate and causes no error`, () => {
    assert.is(mergeBundles([fromCaBundle(caBundle), one], now), mergeBundles([one], now))
  })
}

test.run()
