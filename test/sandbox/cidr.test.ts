import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  contains,
  formatAddress,
  formatNetmask,
  overlaps,
  parseCidr,
  partsOf,
} from '../../sandbox/clouds/equinix-metal/cidr.ts'

/** Returns a block that can be read. */
function block(text: string) {
  const known = parseCidr(text)
  if (!known) throw new Error(`${text} is no block`)
  return known
}

const read: { text: string; shown: string }[] = [
  { text: '203.0.113.7', shown: '203.0.113.7/32' },
  { text: '203.0.113.7/31', shown: '203.0.113.6/31' },
  { text: '2001:db8::1', shown: '2001:db8::1/128' },
  { text: '2001:0db8:0001:fd02:0000:0000:0000:0000/64', shown: '2001:db8:1:fd02::/64' },
  { text: '::', shown: '::/128' },
  { text: '::1', shown: '::1/128' },
  { text: '1::', shown: '1::/128' },
  { text: '1:0:0:2:0:0:0:3', shown: '1:0:0:2::3/128' },
  { text: '2001:db8::ff/120', shown: '2001:db8::/120' },
]

for (const { text, shown } of read)
  test(`${text} is the block ${shown}`, () => {
    const { family, first, length } = block(text)
    assert.is(`${formatAddress(family, first)}/${length}`, shown)
  })

for (const text of ['', '1.2.3', '1.2.3.4/33', '1.2.3.4/', '1.2.3.4/-1', 'a::b::c', '1:2:3', '::12345', '::/129', 'x'])
  test(`"${text}" is no block`, () => assert.is(parseCidr(text), undefined))

test('a block contains itself and its parts, and overlaps what it contains and what contains it', () => {
  const [whole, part, beside] = [block('10.0.0.0/30'), block('10.0.0.2/31'), block('10.0.0.4/30')]
  assert.equal([contains(whole, whole), contains(whole, part), contains(part, whole)], [true, true, false])
  assert.equal([overlaps(part, whole), overlaps(whole, beside)], [true, false])
  assert.is(overlaps(block('0.0.0.1'), block('::1')), false)
})

test('a block has parts of a longer prefix, at most 256 of them', () => {
  const parts = partsOf(block('10.0.0.0/30'), 31).map(({ family, first }) => formatAddress(family, first))
  assert.equal(parts, ['10.0.0.0', '10.0.0.2'])
  assert.is(partsOf(block('2001:db8::/56'), 64).length, 256)
  assert.is(partsOf(block('2001:db8::/56'), 65).length, 0)
  for (const length of [29, 33, 30.5, NaN]) assert.equal(partsOf(block('10.0.0.0/30'), length), [])
})

test('netmasks are written in full', () => {
  assert.is(formatNetmask(4, 31), '255.255.255.254')
  assert.is(formatNetmask(6, 64), 'ffff:ffff:ffff:ffff:0000:0000:0000:0000')
})

test.run()
