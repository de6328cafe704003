import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Cidr,
  contains,
  formatAddress,
  formatNetmask,
  overlaps,
  parseCidr,
  partsOf,
} from '../../sandbox/clouds/equinix-metal/cidr.ts'

function blockOf(text: string): Cidr {
  const parsed = parseCidr(text)
  if (!parsed) throw new Error(`${text} is no block`)
  return parsed
}

const read: { text: string; block: string }[] = [
  { text: '203.0.113.7', block: '203.0.113.7/32' },
  { text: '203.0.113.7/31', block: '203.0.113.6/31' },
  { text: '2001:db8::1', block: '2001:db8::1/128' },
  { text: '2001:0db8:0001:fd02:0000:0000:0000:0000/64', block: '2001:db8:1:fd02::/64' },
  { text: '::', block: '::/128' },
  { text: '::1', block: '::1/128' },
  { text: '1::', block: '1::/128' },
  { text: '1:0:0:2:0:0:0:3', block: '1:0:0:2::3/128' },
  { text: '2001:db8::ff/120', block: '2001:db8::/120' },
]

for (const { text, block } of read)
  test(`${text} is the block ${block}`, () => {
    const { family, first, length } = blockOf(text)
    assert.is(`${formatAddress(family, first)}/${length}`, block)
  })

for (const text of ['', '1.2.3', '1.2.3.4/33', '1.2.3.4/', '1.2.3.4/-1', 'a::b::c', '1:2:3', '::12345', '::/129', 'x'])
  test(`"${text}" is no block`, () => assert.is(parseCidr(text), undefined))

test('a block contains itself and its parts, and overlaps what it contains and what contains it', () => {
  const [whole, part, beside] = [blockOf('10.0.0.0/30'), blockOf('10.0.0.2/31'), blockOf('10.0.0.4/30')]
  assert.equal([contains(whole, whole), contains(whole, part), contains(part, whole)], [true, true, false])
  assert.equal([overlaps(part, whole), overlaps(whole, beside)], [true, false])
  assert.is(overlaps(blockOf('0.0.0.1'), blockOf('::1')), false)
})

test('a block has parts of a longer prefix, at most 256 of them', () => {
  const parts = partsOf(blockOf('10.0.0.0/30'), 31).map(({ family, first }) => formatAddress(family, first))
  assert.equal(parts, ['10.0.0.0', '10.0.0.2'])
  assert.is(partsOf(blockOf('2001:db8::/56'), 64).length, 256)
  assert.is(partsOf(blockOf('2001:db8::/56'), 65).length, 0)
  for (const length of [29, 33, 30.5, NaN]) assert.equal(partsOf(blockOf('10.0.0.0/30'), length), [])
})

test('netmasks are written in full', () => {
  assert.is(formatNetmask(4, 31), '255.255.255.254')
  assert.is(formatNetmask(6, 64), 'ffff:ffff:ffff:ffff:0000:0000:0000:0000')
})

test.run()
