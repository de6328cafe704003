import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseLocations } from '../../../clouds/equinix-metal/reservations.ts'
import { isReservation, kindOf, parseReservation } from '../../../clouds/equinix-metal/parse-reservation.ts'
import { fieldsOf } from '../../../clouds/http/loose-json.ts'
import { dallas, metalReservation, reserved } from './fixtures.ts'

const readings: { name: string; changes: Record<string, unknown>; as: Record<string, unknown> }[] = [
  { name: 'a granted block', changes: {}, as: {} },
  { name: 'a field nobody has heard of', changes: { colour: { deep: 'red' } }, as: {} },
  {
    name: 'a block that waits for approval',
    changes: { state: 'pending', address: null, tags: [], cidr: null },
    as: { state: 'requested', address: undefined, marks: {} },
  },
  {
    name: 'a pending block with an address already',
    changes: { state: 'pending' },
    as: { state: 'requested', address: undefined },
  },
  {
    name: 'a created block without an address',
    changes: { address: '' },
    as: { state: 'requested', address: undefined },
  },
  {
    name: 'a created block of zeroes',
    changes: { address: '0.0.0.0' },
    as: { state: 'requested', address: undefined },
  },
  {
    name: 'a created block with a network for an address',
    changes: { address: '/0' },
    as: { state: 'requested', address: undefined },
  },
  { name: 'a denied block', changes: { state: 'denied', address: null }, as: { state: 'denied', address: undefined } },
  {
    name: 'a state nobody has heard of',
    changes: { state: 'cooking' },
    as: { state: 'requested', address: undefined },
  },
  { name: 'no state', changes: { state: null }, as: {} },
  { name: 'a metro in capitals', changes: { metro: { ...dallas, code: 'DA' } }, as: { location: 'da' } },
  {
    name: 'a block that has only a facility',
    changes: { metro: null, facility: { code: 'ewr1', metro: null } },
    as: { location: 'ewr1' },
  },
  {
    name: 'a block whose facility knows the metro',
    changes: { metro: null, facility: { code: 'da11', metro: dallas } },
    as: { location: 'da' },
  },
  { name: 'a global block', changes: { metro: null, type: 'global_ipv4' }, as: { location: undefined } },
  { name: 'no tags', changes: { tags: null }, as: { marks: {} } },
  { name: 'tags that are no strings', changes: { tags: [null, 7, 'a=b'] }, as: { marks: { a: 'b' } } },
  { name: 'a block of eight addresses', changes: { cidr: 29 }, as: { prefixLength: 29 } },
  {
    name: 'a block that is assigned to a machine',
    changes: { assignments: [{ href: '/ips/7' }] },
    as: { holder: 'a machine of the project' },
  },
  {
    name: 'a block of eight addresses of which one is assigned',
    changes: { cidr: 29, assignments: [{ href: '/ips/7' }] },
    as: { prefixLength: 29 },
  },
  { name: 'no time', changes: { created_at: null }, as: { createdAt: undefined } },
]
for (const { name, changes, as } of readings)
  test(`${name} is read`, () => assert.equal(parseReservation(metalReservation(changes)), { ...reserved, ...as }))

for (const id of [undefined, null, '', 7])
  test(`what has ${String(id)} for an id is no reservation`, () => {
    assert.is(parseReservation(metalReservation({ id })), undefined)
    assert.not.ok(isReservation(metalReservation({ id })))
  })

const kinds = [
  { changes: {}, is: true },
  { changes: { type: 'global_ipv4' }, is: true },
  { changes: { type: 'private_ipv4' }, is: false, says: 'a block of type private_ipv4' },
  { changes: { type: 'public_ipv6' }, is: false, says: 'a block of type public_ipv6' },
  { changes: { type: 'vrf' }, is: false, says: 'a block of type vrf' },
  { changes: { type: 'IPAssignment' }, is: false, says: 'the assignment of an address to a machine' },
  {
    changes: { type: null, assigned_to: { href: '/x' } },
    is: false,
    says: 'the assignment of an address to a machine',
  },
  { changes: { assigned_to: { href: '/x' } }, is: false, says: 'the assignment of an address to a machine' },
  { changes: { type: null }, is: false, says: 'of no known type' },
]
for (const { changes, is, says } of kinds)
  test(`${JSON.stringify(changes)} makes it ${is ? 'a reservation' : says}`, () => {
    const item = metalReservation(changes)
    assert.is(isReservation(item), is)
    if (says) assert.is(kindOf(item), says)
  })

test('whatever JSON comes, reading it does not fail', () => {
  const property = fc.property(fc.jsonValue(), (value) => {
    parseReservation(value)
    parseLocations('metro', value)
    isReservation(fieldsOf(value))
    assert.type(kindOf(fieldsOf(value)), 'string')
  })
  fc.assert(property)
})

test.run()
