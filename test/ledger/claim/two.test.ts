// Two addresses of one Service: claimed at the same time, each by its own record and marks.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ClaimResult } from '../../../ledger/claim/claim-spec.ts'
import type { Limits } from '../../../ledger/claim/limits.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { claimAddresses } from '../../../webhooks/claim-addresses.ts'
import type { ReserveFate } from '../../fakes/scripted-cloud.ts'
import { makeHarness, neverAborted, type ProcessOptions } from '../harness.ts'

const second = 'default/web.ipv6'
const verdict = (claimed: ClaimResult | undefined) => (claimed?.kind === 'held' ? claimed.address : claimed?.kind)

function stage(options: ProcessOptions = {}) {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.process('a', options)
  const claimBoth = async (signal = neverAborted) => {
    const base = { location: 'da', reclaim: 'Delete', wait: true } as const
    const claimed = await claimAddresses(
      ({ quotaUse: _use, ...claim }, until) => process.claims.claim(claim, until),
      {
        first: { ...base, key: 'default/web', family: 'ipv4', quotaUse: {} },
        second: { ...base, key: second, family: 'ipv6' },
      },
      signal,
    )
    return [verdict(claimed.first), verdict(claimed.second)]
  }
  return {
    harness,
    process,
    claimBoth,
    names: () => harness.api.stored(elasticIPs).map(({ metadata }) => metadata.name),
  }
}

test('both are claimed, each with its own record', async () => {
  const { harness, claimBoth, names } = stage()
  assert.equal(await claimBoth(), ['203.0.113.1', '2001:db8::2'])
  assert.equal(names(), ['default.web', 'default.web.ipv6'])
  assert.equal(harness.record(second)?.spec, {
    claimRef: { namespace: 'default', name: 'web' },
    location: 'da',
    ipFamily: 'IPv6',
    reclaimPolicy: 'Delete',
  })
  assert.equal([harness.reservationsOf(), harness.reservationsOf(second)], [['res-1'], ['res-2']])
  assert.equal(await claimBoth(), ['203.0.113.1', '2001:db8::2'])
  assert.is(harness.cloud.calls.reserve, 2)
})

const limits: { limits: Limits; is: string[] }[] = [
  { limits: { cluster: 2, namespace: undefined }, is: ['203.0.113.1', '2001:db8::2'] },
  { limits: { cluster: 1, namespace: undefined }, is: ['203.0.113.1', 'refused'] },
  { limits: { cluster: undefined, namespace: 1 }, is: ['203.0.113.1', 'refused'] },
]
for (const { limits: some, is } of limits) {
  test(`within the limits ${JSON.stringify(some)} the Service gets ${is.join(' and ')}`, async () => {
    const { claimBoth, names } = stage({ limits: some })
    assert.equal(await claimBoth(), is)
    assert.is(names().length, is.includes('refused') ? 1 : 2)
  })
}

test('when the first is refused, no caller waits for the second, and none is bought', async () => {
  const { harness, claimBoth, names } = stage({ limits: { cluster: 0, namespace: undefined } })
  assert.equal(await claimBoth(), ['refused', 'busy'])
  assert.equal([names(), harness.cloud.bought], [[], []])
})

const fates: { fate: ReserveFate; is: string }[] = [
  { fate: 'requested', is: 'pending' },
  { fate: 'quota', is: 'refused' },
  { fate: 'unavailable', is: 'pending' },
]
for (const { fate, is } of fates) {
  test(`when the provider answers the second with ${fate}, the first is held and the second ${is}`, async () => {
    const { harness, claimBoth, process } = stage()
    harness.cloud.fates = ['reserved', fate]
    assert.equal(await claimBoth(), ['203.0.113.1', is])
    for (const { id, state } of harness.cloud.reserved()) if (state === 'requested') harness.cloud.grant(id)
    assert.match(verdict(await process.claim({ key: second, family: 'ipv6' })) ?? '', /^2001:db8::/)
    assert.is(harness.cloud.reserved().length, 2)
  })
}

test('a lost answer does not buy a second address twice', async () => {
  const { harness, claimBoth, process } = stage()
  harness.cloud.fates = ['reserved', 'lost']
  assert.equal(await claimBoth(), ['203.0.113.1', '2001:db8::2'])
  assert.is(verdict(await process.claim({ key: second, family: 'ipv6' })), '2001:db8::2')
  assert.is(harness.cloud.calls.reserve, 2)
})

test('without a record of the first address, the second is not claimed', async () => {
  const { harness, process } = stage()
  assert.is((await process.claim({ key: second, family: 'ipv6' })).kind, 'busy')
  assert.equal(harness.cloud.bought, [])
})

test('neither takes what was reserved for the other, though both may be of one family', async () => {
  const { harness, claimBoth, process } = stage()
  await claimBoth()
  await harness.api.client.remove(elasticIPs, { name: 'default.web' })
  const stored = harness.record()
  if (stored) await process.deps.records.remove(stored)
  assert.is(verdict(await process.claim({ family: 'ipv6', isShown: true })), '2001:db8::3')
})

test.run()
