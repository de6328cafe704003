import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { formatTags, parseTags } from '../../../clouds/equinix-metal/parse-reservation.ts'

test('marks are written as the predecessors wrote them', () => {
  assert.equal(formatTags({ usage: 'cloud-provider-equinix-metal-auto', service: 'l7Rn+K/8=', 'my-tag': '' }), [
    'usage=cloud-provider-equinix-metal-auto',
    'service=l7Rn+K/8=',
    'my-tag',
  ])
})

test('marks come back as they were written', () => {
  const key = fc.string({ minLength: 1 }).filter((text) => !text.includes('='))
  const marks = fc.dictionary(key, fc.string())
  fc.assert(fc.property(marks, (marks) => assert.equal({ ...parseTags(formatTags(marks)) }, { ...marks })))
})

test('any list of tags can be read', () => {
  fc.assert(fc.property(fc.array(fc.string()), (tags) => typeof parseTags(tags) === 'object'))
})

const lists = [
  { name: 'the first = ends the key', tags: ['service=abc=='], marks: { service: 'abc==' } },
  { name: 'a tag without a value is a mark', tags: ['my-eip'], marks: { 'my-eip': '' } },
  { name: 'a tag that is there twice is one mark', tags: ['a=1', 'a=1'], marks: { a: '1' } },
  { name: 'two values for one key make no mark', tags: ['cluster=a', 'cluster=b', 'x=1'], marks: { x: '1' } },
  { name: 'a tag without a key says nothing', tags: ['=x', ''], marks: {} },
]
for (const { name, tags, marks } of lists) test(name, () => assert.equal(parseTags(tags), marks))

test.run()
