import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ResourceQuota } from '../../../kube/objects.ts'
import type { ClaimResult } from '../../../ledger/claim/claim-spec.ts'
import { type UnboundLimitOptions, limitUnbound } from '../../../ledger/claim/limits.ts'
import { makeRecord } from '../../builders.ts'

const claimOf = (key: string) =>
  ({ key, location: 'da', family: 'ipv4', reclaim: 'Delete', wait: true, quotaUse: {} }) as const
const wanted = claimOf('default/web')
const held: ClaimResult = { kind: 'held', record: makeRecord(), address: '203.0.113.40' }
const signal = new AbortController().signal

function limited(options: Partial<UnboundLimitOptions>) {
  const claim = () => Promise.resolve(held)
  const nothing = () => Promise.resolve()
  const quotas = () => Promise.resolve([])
  return limitUnbound({ claim, unbound: () => [], max: 100, quotas, readAhead: nothing, ...options })
}

const never = () => Promise.reject(new Error('the provider was asked'))

test('a claim passes while fewer addresses than the maximum are unbound', async () => {
  assert.is(await limited({ unbound: () => ['a/a', 'b/b'], max: 3 })(wanted, signal), held)
})

test('a claim beyond the maximum of unbound addresses is pending', async () => {
  const claim = limited({ claim: never, unbound: () => ['a/a', 'b/b', 'c/c'], max: 3 })
  const reason = '3 addresses are waiting for their Services (--max-unbound)'
  assert.equal(await claim(wanted, signal), { kind: 'pending', reason })
})

test('if the review times out while the quotas are read, no claim begins', async () => {
  const review = new AbortController()
  const quotas = () => {
    review.abort()
    return Promise.resolve([])
  }
  const claim = limited({ claim: never, quotas })
  assert.is((await claim({ ...wanted, quotaUse: { services: 1 } }, review.signal)).kind, 'busy')
})

test('a namespace at a quarter of the maximum is limited, and no other is', async () => {
  const claim = limited({ unbound: () => ['default/a', 'default/b', 'other/c'], max: 8 })
  const reason = '2 addresses in namespace default are waiting for their Services (a quarter of --max-unbound)'
  assert.equal(await claim(wanted, signal), { kind: 'pending', reason })
  assert.is(await claim(claimOf('other/web'), signal), held)
})

test('the address that a Service got from an earlier try does not count against it', async () => {
  const claim = limited({ unbound: () => ['default/web'], max: 1 })
  assert.is(await claim(wanted, signal), held)
  assert.is((await claim(claimOf('default/other'), signal)).kind, 'pending')
})

test('claims that are running count as unbound, and failed ones do not', async () => {
  const answers = Promise.withResolvers<ClaimResult>()
  let claims = 0
  const claim = limited({
    claim: () => {
      claims += 1
      return claims === 1 ? Promise.reject(new Error('no API server')) : answers.promise
    },
    max: 2,
  })
  await claim(wanted, signal).catch(() => undefined)
  const all = ['a/1', 'b/2', 'c/3', 'd/4'].map((key) => claim(claimOf(key), signal))
  answers.resolve(held)
  assert.equal(
    (await Promise.all(all)).map(({ kind }) => kind),
    ['held', 'held', 'pending', 'pending'],
  )
  assert.is(claims, 3)
})

const quota: ResourceQuota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { namespace: 'default', name: 'small' },
  status: { hard: { services: '3' }, used: { services: '1' } },
}

test("as many simultaneous claims pass as their namespace's quota permits", async () => {
  let claims = 0
  const claim = limited({
    claim: () => {
      claims += 1
      return Promise.resolve(held)
    },
    quotas: () => Promise.resolve([quota]),
  })
  const all = ['a', 'b', 'c', 'd'].map((name) =>
    claim({ ...claimOf(`default/${name}`), quotaUse: { services: 1 } }, signal),
  )
  assert.equal(
    (await Promise.all(all)).map(({ kind }) => kind),
    ['held', 'held', 'pending', 'pending'],
  )
  assert.is(claims, 2)
})

test('the first reads of a claim run beside those of the quotas, and both after the waiting Services', async () => {
  const steps: string[] = []
  const note = (step: string) => void steps.push(step)
  const begun = Promise.withResolvers<void>()
  const claim = limited({
    unbound: () => (note('waiting'), []),
    async quotas() {
      note('quotas begin')
      await begun.promise
      note('quotas end')
      return [quota]
    },
    readAhead() {
      note('read ahead')
      begun.resolve()
      return Promise.resolve()
    },
    claim: () => (note('claim'), Promise.resolve(held)),
  })
  assert.is(await claim({ ...wanted, quotaUse: { services: 1 } }, signal), held)
  assert.equal(steps, ['waiting', 'quotas begin', 'read ahead', 'quotas end', 'claim'])
})

test('quotas are not read for a Service that uses none of them', async () => {
  assert.is(await limited({ quotas: never })(wanted, signal), held)
})

test.run()
