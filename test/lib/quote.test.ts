import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { firstItems, quote } from '../../lib/text.ts'

const long = 'x'.repeat(100)

const quoted: { value: string; is: string }[] = [
  { value: '', is: '""' },
  { value: 'da', is: '"da"' },
  { value: 'a "b"\n', is: String.raw`"a \"b\"\n"` },
  { value: long, is: `"${long}"` },
  { value: `${long}y`, is: `"${long}…" (101 characters)` },
  { value: '😀'.repeat(100), is: `"${'😀'.repeat(100)}"` },
  { value: '😀'.repeat(101), is: `"${'😀'.repeat(100)}…" (202 characters)` },
  { value: 'x'.repeat(250_000), is: `"${long}…" (250000 characters)` },
]

for (const { value, is } of quoted) {
  test(`${value.length} characters that begin with ${value.slice(0, 4)} are quoted`, () => assert.is(quote(value), is))
}

test('a value that is no text is quoted as JSON', () => {
  assert.is(quote({ a: 1 }), String.raw`"{\"a\":1}"`)
  assert.is(quote(undefined), '""')
})

test('a list of more than ten items says how many it leaves out', () => {
  const items = Array.from({ length: 12 }, (_, n) => `${n}`)
  assert.equal(firstItems(items.slice(0, 10)), items.slice(0, 10))
  assert.equal(firstItems(items), [...items.slice(0, 10), 'and 2 more'])
})

test.run()
