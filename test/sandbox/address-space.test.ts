import {
  type Arbitrary,
  array,
  assert as holds,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
} from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Allocation, makePool } from '../../sandbox/clouds/address-pool.ts'
import { makeAddressSpace } from '../../sandbox/clouds/equinix-metal/address-space.ts'
import { formatIpv4, parseRange, sizeOf } from '../../sandbox/clouds/ipv4.ts'

type Step = { do: 'first' | 'last'; cidr: number } | { do: 'free'; nth: number }

const step: Arbitrary<Step> = oneof(
  record({ do: constantFrom('first' as const, 'last' as const), cidr: integer({ min: 27, max: 32 }) }),
  record({ do: constant('free' as const), nth: nat(20) }),
)

const addressesOf = ({ range }: Allocation) => Array.from({ length: sizeOf(range.cidr) }, (_, n) => range.first + n)

test('a pool never allocates an address twice, also after a double free, and aligns every block to its size', () => {
  holds(
    property(array(step, { maxLength: 60 }), (steps) => {
      const pool = makePool([parseRange('203.0.113.0/27'), parseRange('198.18.0.0/25')])
      const out: Allocation[] = []
      const given: Allocation[] = []
      for (const one of steps) {
        if (one.do === 'free') {
          given.push(...out.splice(one.nth, 1))
          for (const allocation of given) allocation.free()
        } else {
          const allocation = one.do === 'first' ? pool.allocateFirst(one.cidr) : pool.allocateLast(one.cidr)
          if (allocation) out.push(allocation)
        }
        const addresses = out.flatMap(addressesOf)
        assert.is(new Set(addresses).size, addresses.length)
        assert.ok(out.every(({ range }) => range.first % sizeOf(range.cidr) === 0))
      }
    }),
  )
})

test('an exhausted pool returns undefined, and allocates again after its addresses are freed', () => {
  const pool = makePool([parseRange('203.0.113.0/30')])
  const all = pool.allocateFirst(30)
  assert.is(pool.allocateFirst(32), undefined)
  all?.free()
  assert.is(formatIpv4(pool.allocateLast(32)?.range.first ?? 0), '203.0.113.3')
})

test('metros share no address, neither with each other nor with the global pool', () => {
  const space = makeAddressSpace(['am', 'da', 'sv'])
  const pools = [space.global, ...['am', 'da', 'sv'].map((metro) => space.publicIn(metro))]
  const firsts = pools.flatMap((pool) =>
    [pool.allocateFirst(32), pool.allocateLast(32)].map((allocation) => allocation?.range.first),
  )
  assert.is(new Set(firsts).size, 8)
  assert.is(space.publicIn('zz').allocateFirst(32), undefined)
})

test.run()
