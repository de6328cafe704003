import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hashForName, isDnsLabel, isDnsName, isLabelValue, isQualifiedName } from '../../lib/names.ts'

const long = (length: number) => 'a'.repeat(length)

const rules: { is: (text: string) => boolean; good: string[]; bad: string[] }[] = [
  { is: isDnsLabel, good: ['a', 'a-1', long(63)], bad: ['', '-a', 'a-', 'A', 'a.b', long(64)] },
  { is: isDnsName, good: ['a.b', 'web'], bad: ['', 'a..b', 'a.B', `${long(63)}.`.repeat(4)] },
  { is: isQualifiedName, good: ['Zone', 'example.com/zone_1'], bad: ['', '/zone', 'a/b/c', 'Example.com/zone'] },
  { is: isLabelValue, good: ['', 'a', 'A_b.c-d', long(63)], bad: ['-', 'a b', long(64)] },
]
for (const { is, good, bad } of rules)
  test(`${is.name} knows what Kubernetes accepts`, () => {
    assert.equal([good.filter((text) => !is(text)), bad.filter(is)], [[], []])
  })

test('the hash of a text fits into a name and differs with the text', () => {
  const hash = hashForName('Some/Thing', 16)
  assert.ok(isDnsLabel(hash))
  assert.is(hash.length, 16)
  assert.is.not(hash, hashForName('Some/Thing2', 16))
})

test.run()
