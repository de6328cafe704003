import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseIpAddress, formatIpv4Network, isInRanges } from '../../lib/ip-address.ts'

const cases: [address: string, range: string, isIn: boolean][] = [
  ['192.0.2.9', '192.0.2.0/24', true],
  ['192.0.3.9', '192.0.2.0/24', false],
  ['192.0.2.9', '192.0.2.1-192.0.2.9', true],
  ['192.0.2.9', '192.0.2.1 - 192.0.2.8', false],
  ['192.0.2.9', '192.0.2.9', false],
  ['192.0.2.9', '192.0.2.9-192.0.2.1', false],
  ['192.0.2.9', 'anything', false],
  ['2001:db8::1', '2001:db8::/64', true],
  ['2001:db8::1', '192.0.2.0/24', false],
  ['192.0.2.9', '::/0', false],
]
for (const [address, range, isIn] of cases)
  test(`${address} is ${isIn ? '' : 'not '}in ${range}`, () => {
    const parsed = parseIpAddress(address)
    assert.is(parsed && isInRanges(parsed, ['198.51.100.0/24', range]), isIn)
  })

test('a network has an IPv4 address and a prefix of at most 32 bits', () => {
  assert.is(formatIpv4Network('10.0.0.0', 25), '10.0.0.0/25')
  for (const [address, length] of [
    ['10.0.0.0', 33],
    ['10.0.0.0', -1],
    ['10.0.0.0', Number.NaN],
    ['::', 25],
  ] as const)
    assert.is(formatIpv4Network(address, length), undefined)
})

test.run()
