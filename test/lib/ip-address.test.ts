import { isIP } from 'node:net'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { canonicalIpAddress } from '../../lib/ip-address.ts'

const texts: { text: string; is: string | undefined }[] = [
  { text: '192.0.2.1', is: '192.0.2.1' },
  { text: '2001:db8::1', is: '2001:db8::1' },
  { text: '2001:0DB8:0000:0000:0000:0000:0000:0011', is: '2001:db8::11' },
  { text: 'fc00:0000:0000:0000:0000:0000:0000:000e', is: 'fc00::e' },
  { text: '::ffff:192.0.2.1', is: '::ffff:c000:201' },
  { text: '010.0.0.1', is: undefined },
  { text: '192.0.2.1/32', is: undefined },
  { text: ' 192.0.2.1', is: undefined },
  { text: 'fe80::1%eth0', is: undefined },
  { text: '[::1]', is: undefined },
  { text: '', is: undefined },
]
for (const { text, is } of texts)
  test(`${JSON.stringify(text)} is ${is ?? 'no address'}`, () => assert.is(canonicalIpAddress(text), is))

test('every address has one text, which is its own', () => {
  const property = fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
    const canonical = canonicalIpAddress(text) ?? ''
    assert.is(isIP(canonical), isIP(text))
    assert.is(canonicalIpAddress(canonical), canonical)
    assert.is(canonicalIpAddress(text.toUpperCase()), canonical)
  })
  fc.assert(property)
})

test.run()
