import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { prefixLimit, prefixLimitKey } from '../../../controllers/peering/prefix-limit.ts'

const { signal } = new AbortController()

test('a person is told once that the routers take no more, and again when it was well in between', async () => {
  const warnings: string[] = []
  const cluster = { addresses: 0 }
  const limit = prefixLimit({ announced: () => cluster.addresses, most: 10, warn: (text) => void warnings.push(text) })
  const counts: [addresses: number, warnings: number][] = [
    [10, 0],
    [11, 1],
    [12, 1],
    [10, 1],
    [11, 2],
  ]
  for (const [addresses, told] of counts) {
    cluster.addresses = addresses
    await limit.reconcile(prefixLimitKey, signal)
    assert.is(warnings.length, told, `${addresses} addresses`)
  }
  assert.match(warnings[0] ?? '', /^11 addresses are announced, but the routers of the cloud take 10 from a node/)
})

test.run()
