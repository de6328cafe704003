import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Pages, wholeList } from '../../../clouds/http/whole-list.ts'
import { cloudErrorOf, neverAborted } from '../scripted-server.ts'

const mib = 1024 * 1024

/** A list whose pages have a new item each and never end. */
function endless(bytes: number) {
  let pages = 0
  const read: Pages<string>['read'] = async () => {
    pages += 1
    return { items: [{ id: `item-${pages}`, name: `name-${pages}` }], bytes, promised: 0, isLast: false }
  }
  const list = {
    vendor: 'Vendor',
    name: 'machines',
    read,
    keep: ({ id }: { id?: unknown }) => (typeof id === 'string' ? id : undefined),
  }
  return { list, pages: () => pages }
}

test('a list without an end is an error before it fills the memory', async () => {
  const { list, pages } = endless(5 * mib)
  const error = await cloudErrorOf(wholeList(list, neverAborted))
  assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
  assert.match(error.message, 'did not return the whole list of machines: it has more than 32 MiB')
  assert.is(pages(), 7)
})

test('a list of small pages without an end is an error, too', async () => {
  const { list, pages } = endless(1)
  assert.match((await cloudErrorOf(wholeList(list, neverAborted))).message, 'it does not end after 1000 pages')
  assert.is(pages(), 1000)
})

test('of each item only what is used stays, and what is of no use is left out', async () => {
  const items = [{ id: 1, name: 'a', text: 'long' }, { id: 2 }, { name: 'b' }, { name: 'b' }, { id: 1, name: 'c' }]
  const read = async () => ({ items, bytes: 10, promised: 0, isLast: true })
  const keep = ({ name }: { name?: unknown }) => (typeof name === 'string' ? name : undefined)
  assert.equal(await wholeList({ vendor: 'Vendor', name: 'machines', read, keep }, neverAborted), ['c', 'b', 'b'])
})

test.run()
