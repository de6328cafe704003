import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parsePage } from '../../../clouds/equinix-metal/project.ts'
import { ips, metalAt, metalReservation } from './fixtures.ts'
import { cloudErrorOf, neverAborted, type Reply, type Seen, startScript } from '../scripted-server.ts'

const item = (id: string, changes = {}) => metalReservation({ id, ...changes })
const many = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => item(`id-${from + n}`))

function page(items: object[], meta?: Record<string, unknown>): Reply {
  return { json: { ip_addresses: items, ...(meta && { meta }) } }
}

/** The list as the client gives it, off a server that answers the pages by this rule. */
async function listFrom(script: (asked: number, nth: number, request: Seen) => Reply, marks = {}) {
  await using server = await startScript((request, nth) => script(Number(request.query.get('page') ?? 1), nth, request))
  const reservations = await metalAt(server.url).reservations(marks, neverAborted)
  return { ids: reservations.map(({ id }) => id), requests: server.seen }
}

test('a list of one page is one call, for public addresses only, a hundred at a time', async () => {
  const { ids, requests } = await listFrom(() => page([item('a'), item('b')]))
  assert.equal(ids, ['a', 'b'])
  assert.is(requests.length, 1)
  assert.is(requests[0]?.path, ips)
  assert.is(requests[0]?.query.toString(), 'types=public_ipv4%2Cglobal_ipv4&per_page=100')
})

test('every page is read', async () => {
  const { ids, requests } = await listFrom((asked) => {
    const items = many((asked - 1) * 100, Math.min(asked * 100, 250))
    return page(items, { current_page: asked, last_page: 3, total: 250 })
  })
  assert.equal([ids.length, new Set(ids).size, requests.length], [250, 250, 3])
})

test('a page may be shorter than asked for', async () => {
  const { ids } = await listFrom((asked) =>
    page(many(asked * 10, asked * 10 + 2), { current_page: asked, last_page: 4 }),
  )
  assert.is(ids.length, 8)
})

test('a reservation that moves onto the next page while we read is there once', async () => {
  const pages = [
    [item('a'), item('b')],
    [item('b'), item('c')],
  ]
  const { ids } = await listFrom((asked) =>
    page(pages[asked - 1] ?? [], { current_page: asked, last_page: 2, total: 3 }),
  )
  assert.equal(ids, ['a', 'b', 'c'])
})

test('an item that is no public reservation, or has no id, is skipped', async () => {
  const others = [{ type: 'private_ipv4' }, { type: 'public_ipv6' }, { type: 'vrf', tags: undefined }, { type: null }]
  const { ids } = await listFrom(() =>
    page([...others.map((changes, n) => item(`other-${n}`, changes)), item('a'), metalReservation({ id: null })]),
  )
  assert.equal(ids, ['a'])
})

test('only reservations with all the marks are given', async () => {
  const items = [
    item('ours', { tags: ['usage=u', 'cluster=c', 'service=x', 'team=t'] }),
    item('of another cluster', { tags: ['usage=u', 'cluster=d', 'service=x'] }),
    item('of another service', { tags: ['usage=u', 'cluster=c', 'service=y'] }),
    item('without marks', { tags: null }),
  ]
  const { ids } = await listFrom(() => page(items), { usage: 'u', cluster: 'c', service: 'x' })
  assert.equal(ids, ['ours'])
})

test('a list that shrinks while it is read is read again', async () => {
  const { ids, requests } = await listFrom((asked, nth) => {
    const total = nth === 1 ? 4 : 3
    return page(asked === 1 ? [item('a'), item('b')] : [item('c')], { current_page: asked, last_page: 2, total })
  })
  assert.equal(ids, ['a', 'b', 'c'])
  assert.is(requests.length, 4)
})

test('a list that loses one for a duplicate is read again', async () => {
  const { ids, requests } = await listFrom((asked, nth) => {
    const second = nth === 2 ? [item('a')] : [item('b')]
    return page(asked === 1 ? [item('a')] : [...second, item('c')], { current_page: asked, last_page: 2, total: 3 })
  })
  assert.equal([ids, requests.length], [['a', 'b', 'c'], 4])
})

const broken: { name: string; script: (asked: number) => Reply; says: string }[] = [
  { name: 'without the list', script: () => ({ json: { meta: {} } }), says: 'page 1 has no ip_addresses' },
  { name: 'without a body', script: () => ({ status: 200 }), says: 'page 1 has no ip_addresses' },
  {
    name: 'that gives the first page for ever',
    script: () => page(many(0, 100), { current_page: 1, last_page: 3 }),
    says: 'read 3 times, its pages never matched',
  },
  {
    name: 'that gives the same reservations on every page',
    script: (asked) => page(many(0, 100), { current_page: asked, last_page: 3 }),
    says: 'read 3 times, its pages never matched',
  },
  {
    name: 'that grows without end and brings nothing',
    script: (asked) => page([], { current_page: asked, last_page: asked + 1 }),
    says: 'read 3 times, its pages never matched',
  },
  {
    name: 'that never stands still',
    script: (asked) => page(many(asked, asked + 1), { current_page: asked, last_page: 2, total: 10 - asked }),
    says: 'read 3 times, its pages never matched',
  },
  {
    name: 'of which one page fails',
    script: (asked) => (asked === 1 ? page(many(0, 100), { last_page: 2 }) : { status: 500 }),
    says: 'answered 500',
  },
]
for (const { name, script, says } of broken)
  test(`a list ${name} is an error, not a shorter list`, async () => {
    const error = await cloudErrorOf(listFrom(script))
    assert.match(error.message, says)
    assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
  })

test('a list without end ends', async () => {
  let asked = 0
  const error = await cloudErrorOf(
    listFrom((page) => {
      asked = page
      return { json: { ip_addresses: [item(`id-${page}`)], meta: { current_page: page, last_page: page + 1 } } }
    }),
  )
  assert.match(error.message, 'it does not end after 1000 pages')
  assert.is(asked, 1000)
})

const pages = [
  { name: 'a page', meta: { current_page: 2, last_page: 3, total: 250 }, page: { current: 2, last: 3, total: 250 } },
  { name: 'a page without meta', meta: undefined, page: { current: 2, last: 2, total: undefined } },
  { name: 'a page with an empty meta', meta: null, page: { current: 2, last: 2, total: undefined } },
  { name: 'numbers that are strings', meta: { last_page: '9' }, page: { current: 2, last: 2, total: undefined } },
]
for (const { name, meta, page } of pages)
  test(`${name} is read`, () =>
    assert.equal(parsePage({ ips: [], meta }, { field: 'ips', asked: 2 }), { items: [], ...page }))

for (const body of [undefined, null, [], {}, { ips: null }, { ips: {} }, 'text'])
  test(`${JSON.stringify(body)} is no page, not an empty one`, () =>
    assert.is(parsePage(body, { field: 'ips', asked: 1 }), undefined))

test('whatever JSON comes, looking for a page in it does not fail', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => void parsePage(value, { field: 'ips', asked: 1 })))
})

test.run()
