import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { prefixLimit, prefixLimitKey } from '../../../controllers/peering/prefix-limit.ts'

const { signal } = new AbortController()

test('too many addresses are warned of once, and again after the number was below the limit', async () => {
  const warnings: string[] = []
  const cluster = { addresses: 0 }
  const limit = prefixLimit({
    countAnnounced: () => cluster.addresses,
    max: 10,
    warn: (text) => void warnings.push(text),
  })
  const counts: [addresses: number, warnings: number][] = [
    [10, 0],
    [11, 1],
    [12, 1],
    [10, 1],
    [11, 2],
  ]
  for (const [addresses, expected] of counts) {
    cluster.addresses = addresses
    await limit.reconcile(prefixLimitKey, signal)
    assert.is(warnings.length, expected, `${addresses} addresses`)
  }
  assert.match(warnings[0] ?? '', /^11 addresses are announced, but the routers of the cloud accept 10 from a node/)
})

test.run()
