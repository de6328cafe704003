import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cloudErrorOf, neverAborted } from '../scripted-server.ts'
import { ips, metalReservation, reserved } from './fixtures.ts'
import { asked, errors, withRoutes } from './scripted-metal.ts'

const { id, address } = reserved
const options = { signal: neverAborted, writeMs: () => 2_000 }
const held = (machine: string, assignment = 'assignment-1') => ({
  json: metalReservation({
    assignments: [
      { id: assignment, type: 'IPAssignment', address, cidr: 32, assigned_to: { href: `/devices/${machine}` } },
    ],
  }),
})
const free = { json: metalReservation({ assignments: [] }) }

test('a reservation with the tag that has no address yet hides none that has one', async () => {
  const pending = metalReservation({ id: 'pending', state: 'pending', address: null })
  const list = { json: { ip_addresses: [pending, metalReservation()] } }
  await withRoutes({ [`GET ${ips}`]: list }, async ({ assignments }) => {
    const found = await assignments.assignedAddresses('usage=u', neverAborted)
    assert.equal(
      found.map((one) => [one.id, one.address]),
      [[id, address]],
    )
  })
})

test('a move deletes the assignment, never the reservation, and assigns the address as a network of one', async () => {
  const routes = {
    [`GET /ips/${id}`]: held('old'),
    'DELETE /ips/assignment-1': { status: 204 },
    'POST /devices/new/ips': { status: 201, json: {} },
  }
  await withRoutes(routes, async ({ assignments }, seen) => {
    await assignments.move({ id, machine: 'new', marks: {} }, options)
    assert.equal(asked(seen), [`GET /ips/${id}`, 'DELETE /ips/assignment-1', 'POST /devices/new/ips'])
    assert.equal(seen[0]?.query.get('include'), 'assignments')
    assert.equal(seen[2]?.body, { address: `${address}/32` })
  })
})

test('an assignment that cannot be deleted yet is a conflict, and nothing was done', async () => {
  const routes = { [`GET /ips/${id}`]: held('old'), 'DELETE /ips/assignment-1': errors(422, 'It is being created') }
  await withRoutes(routes, async ({ assignments }, seen) => {
    const error = await cloudErrorOf(assignments.move({ id, machine: 'new', marks: {} }, options))
    assert.equal([error.fault, error.outcome], ['conflict', 'nothing'])
    assert.match(error.message, 'It is being created')
    assert.is(seen.length, 2)
  })
})

test('an address that is refused as taken by this machine itself is there', async () => {
  const routes = {
    [`GET /ips/${id}`]: (_: unknown, nth: number) => (nth === 1 ? free : held('new')),
    'POST /devices/new/ips': errors(422, 'Address has already been taken'),
  }
  await withRoutes(routes, async ({ assignments }) => assignments.move({ id, machine: 'new', marks: {} }, options))
})

test('an address that is refused for another reason is on no machine, and the error has the reason', async () => {
  const routes = { [`GET /ips/${id}`]: free, 'POST /devices/new/ips': errors(422, 'is not manageable') }
  await withRoutes(routes, async ({ assignments }) => {
    const error = await cloudErrorOf(assignments.move({ id, machine: 'new', marks: {} }, options))
    assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
    assert.match(error.message, /is not manageable; check that machine new exists, in the metro of address/)
  })
})

test('the id of an assignment is never moved as if it were a reservation', async () => {
  const assignment = { json: { id: 'x', type: 'IPAssignment', assigned_to: { href: '/devices/old' } } }
  await withRoutes({ 'GET /ips/x': assignment }, async ({ assignments }, seen) => {
    const error = await cloudErrorOf(assignments.move({ id: 'x', machine: 'new', marks: {} }, options))
    assert.match(error.message, 'x is the assignment of an address to a machine, not a reservation')
    assert.is(seen.length, 1)
  })
})

test('an answer without assignments is never taken for an address without a machine', async () => {
  const { assignments: _, ...without } = metalReservation()
  await withRoutes({ [`GET /ips/${id}`]: { json: without } }, async ({ assignments }, seen) => {
    const error = await cloudErrorOf(assignments.move({ id, machine: 'new', marks: {} }, options))
    assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
    assert.is(seen.length, 1)
  })
})

test.run()
