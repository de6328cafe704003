import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cloudErrorOf, neverAborted, type Reply, startScript } from '../scripted-server.ts'
import { cherryAt, cherryIp, ips } from './fixtures.ts'

const many = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, n) => cherryIp({ id: `id-${from + n}` }))
const named = (...ids: string[]) => ids.map((id) => cherryIp({ id }))

const page = (items: object[], total?: number): Reply => ({
  json: items,
  ...(total !== undefined && { headers: { 'x-total-count': String(total) } }),
})

/** The list as the client gives it, off a server that answers the pages by this rule. */
async function listFrom(script: (offset: number, nth: number) => Reply) {
  await using server = await startScript(({ query }, nth) => script(Number(query.get('offset')), nth))
  const reservations = await cherryAt(server.url).reservations({}, neverAborted)
  return { ids: reservations.map(({ id }) => id), requests: server.seen }
}

test('a list is one call without a limit', async () => {
  const { ids, requests } = await listFrom(() => page(named('a', 'b'), 2))
  assert.equal(ids, ['a', 'b'])
  assert.equal(
    requests.map(({ path, query }) => `${path}?${query.toString()}`),
    [`${ips}?`],
  )
})

test('the list is whole whatever the length counts where a filter is set', async () => {
  const all = [cherryIp({ id: 'server', type: 'primary-ip' }), cherryIp({ id: 'a' })]
  await using server = await startScript(({ query }) => {
    const isFiltered = query.has('type[]')
    const shown = all.filter(({ type }) => !isFiltered || type === query.get('type[]'))
    return page(shown.slice(Number(query.get('offset'))), all.length)
  })
  const found = await cherryAt(server.url).reservations({}, neverAborted)
  assert.equal(
    found.map(({ id }) => id),
    ['a'],
  )
})

test('every page is read', async () => {
  const { ids, requests } = await listFrom((offset) => page(many(offset, Math.min(offset + 100, 250)), 250))
  assert.equal([new Set(ids).size, requests.length], [250, 3])
})

test('a list is whole where the provider gives fewer than a limit says, and counts those alone', async () => {
  const all = many(0, 70)
  await using server = await startScript(({ query }) => {
    const limit = query.get('limit')
    const items = limit === null ? all : all.slice(Number(query.get('offset'))).slice(0, Math.min(Number(limit), 50))
    return page(items, items.length)
  })
  const found = await cherryAt(server.url).reservations({}, neverAborted)
  assert.equal([found.length, server.seen.length], [70, 1])
})

test('a full page after the first one is not the last one, whatever the length counts', async () => {
  for (const count of [200, 250, 300]) {
    const { ids, requests } = await listFrom((offset) => {
      const items = many(offset, Math.min(offset + 100, count))
      return page(items, offset === 0 ? 150 : items.length)
    })
    assert.equal([new Set(ids).size, requests.length], [count, 1 + Math.floor(count / 100)])
  }
})

test('a page may be shorter than asked for', async () => {
  const { ids } = await listFrom((offset) => page(many(offset, offset + 2), 8))
  assert.is(ids.length, 8)
})

test('a list that does not say how long it is is read until nothing comes', async () => {
  const { ids, requests } = await listFrom((offset) => page(many(offset, Math.min(offset + 100, 150))))
  assert.equal([ids.length, requests.length], [150, 3])
})

test('a list that shrinks while it is read is read again', async () => {
  const { ids, requests } = await listFrom((offset, nth) => {
    if (nth <= 2) return offset === 0 ? page(named('a', 'b'), 4) : page(named('d'), 3)
    return page(named('b', 'c', 'd'), 3)
  })
  assert.equal([ids, requests.length], [['b', 'c', 'd'], 3])
})

test('a list that grows at its front while it is read is read again', async () => {
  const { ids, requests } = await listFrom((offset, nth) => {
    if (nth <= 2) return offset === 0 ? page(named('a', 'b'), 3) : page(named('b', 'c'), 4)
    return page(named('new', 'a', 'b', 'c'), 4)
  })
  assert.equal([ids, requests.length], [['new', 'a', 'b', 'c'], 3])
})

const broken: { name: string; script: (offset: number, nth: number) => Reply; says: string }[] = [
  { name: 'that is none', script: () => ({ json: { ips: [] } }), says: 'the response at offset 0 is not a list' },
  { name: 'without a body', script: () => ({ status: 200 }), says: 'the response at offset 0 is not a list' },
  { name: 'that gives the first page for ever', script: () => page(many(0, 100), 300), says: 'never matched' },
  { name: 'that ends before its end', script: (offset) => page(many(offset, 100), 150), says: 'never matched' },
  {
    name: 'that gives one place two reservations',
    script: (offset) => page(offset === 0 ? named('a', 'b') : named('b', 'c'), 4),
    says: 'never matched',
  },
  {
    name: 'of which one page fails',
    script: (offset) => (offset === 0 ? page(many(0, 100), 200) : { status: 500 }),
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
    listFrom((offset) => {
      asked += 1
      return page(many(offset, offset + 1), offset + 2)
    }),
  )
  assert.match(error.message, 'it does not end after 1000 pages')
  assert.is(asked, 1000)
})

test.run()
