import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cloudErrorOf, neverAborted } from '../scripted-server.ts'
import { cherryIp, cherryServer, ips, reserved } from './fixtures.ts'
import { asked, list, withRoutes } from './scripted-cherry.ts'

const { id, address } = reserved
const path = `/v1/ips/${id}`
const options = { signal: neverAborted, writeMs: () => 2_000 }
const held = { json: cherryIp({ targeted_to: cherryServer() }) }

test('one PUT moves an address, and contains nothing else that it would replace', async () => {
  await withRoutes({ [`GET ${path}`]: held, [`PUT ${path}`]: held }, async ({ assignments }, seen) => {
    await assignments.move({ id, machine: '640118', marks: {} }, options)
    assert.equal(asked(seen), [`GET ${path}`, `PUT ${path}`])
    assert.equal(seen[1]?.body, { targeted_to: '640118' })
  })
})

for (const none of [undefined, null, { id: 0 }, { id: '' }])
  test(`an address with the target ${JSON.stringify(none)} is on no machine`, async () => {
    await withRoutes({ [`GET ${path}`]: { json: cherryIp({ targeted_to: none }) } }, async ({ assignments }) => {
      const found = await assignments.assignedAddress(id, neverAborted)
      assert.equal([found?.id, found?.address, found?.machines], [id, address, []])
    })
  })

for (const { tag, tags, isFound } of [
  { tag: 'a=b', tags: { a: 'b', c: 'd' }, isFound: true },
  { tag: 'a=b=', tags: { a: 'b=' }, isFound: true },
  { tag: 'a', tags: { a: '' }, isFound: true },
  { tag: 'a=', tags: { a: '' }, isFound: true },
  { tag: 'a', tags: { a: 'b' }, isFound: false },
  { tag: 'a=1', tags: { a: 1 }, isFound: false },
  { tag: 'toString', tags: {}, isFound: false },
])
  test(`the tag ${tag} ${isFound ? 'is' : 'is not'} on an address with ${JSON.stringify(tags)}`, async () => {
    const routes = { [`GET ${ips}`]: list(cherryIp({ tags })), [`GET ${path}`]: { json: cherryIp({ tags }) } }
    await withRoutes(routes, async ({ assignments }) => {
      assert.is((await assignments.assignedAddresses(tag, neverAborted)).length, isFound ? 1 : 0)
      // A guardian that knows the address asks it for its tag.
      assert.is((await assignments.assignedAddress(id, neverAborted))?.tags.includes(tag), isFound)
    })
  })

test('an address with the tag that has no number yet hides none that has one', async () => {
  const waiting = cherryIp({ id: 'waiting', address: '' })
  await withRoutes({ [`GET ${ips}`]: list(waiting, cherryIp()) }, async ({ assignments }) => {
    const found = await assignments.assignedAddresses('usage=u', neverAborted)
    assert.equal(
      found.map((one) => [one.id, one.address]),
      [[id, address]],
    )
  })
})

test("a server's own address is never moved", async () => {
  const own = { json: cherryIp({ type: 'primary-ip', targeted_to: cherryServer() }) }
  await withRoutes({ [`GET ${path}`]: own }, async ({ assignments }, seen) => {
    const error = await cloudErrorOf(assignments.move({ id, machine: '640118', marks: {} }, options))
    assert.match(error.message, 'is an address of type primary-ip, not a floating IP')
    assert.is(seen.length, 1)
  })
})

test.run()
