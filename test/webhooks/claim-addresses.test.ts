import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ClaimResult } from '../../ledger/claim/claim-spec.ts'
import { type ClaimAddress, claimAddresses } from '../../webhooks/claim-addresses.ts'
import { makeRecord } from '../builders.ts'

const { signal } = new AbortController()
const address = '203.0.113.40'
const held: ClaimResult = { kind: 'held', record: makeRecord({ phase: 'Reserved', address }), address }
const refused: ClaimResult = { kind: 'refused', reason: 'the provider has no more' }

const claimOf = (key: string) =>
  ({ key, location: 'da', family: 'ipv4', reclaim: 'Delete', wait: true, quotaUse: {} }) as const

/** Whether the claim of the second address was ended, when the first had this result. */
async function isEnded(first: ClaimResult | Error): Promise<boolean | undefined> {
  let ended: boolean | undefined
  const claim: ClaimAddress = async ({ key }, aborted) => {
    if (key === 'default/web') {
      if (first instanceof Error) throw first
      return first
    }
    // The first has its result within this turn.
    await turn()
    ended = aborted.aborted
    return held
  }
  const claims = { first: claimOf('default/web'), second: claimOf('default/web.ipv6') }
  await claimAddresses(claim, claims, signal).catch(() => undefined)
  await turn()
  return ended
}

for (const [name, first, ended] of [
  ['held', held, false],
  ['refused', refused, true],
  ['an error', new Error('the API server is down'), true],
] as const)
  test(`a second address is not awaited if the first is ${name}: ${ended}`, async () => {
    assert.is(await isEnded(first), ended)
  })

test.run()
