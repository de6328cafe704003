import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseAssignments } from '../../../clouds/equinix-metal/assignments.ts'
import { fieldsOf } from '../../../clouds/http/loose-json.ts'
import { metalReservation } from './fixtures.ts'

const id = 'e6b1c9aa-55d0-4f0c-9a37-7d1c2b3a4f5e'
const machine = '3d1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711'
const { id: reservation, address } = metalReservation()

/** An assignment as the API sends it. */
const assignment = (changes: Record<string, unknown> = {}) => ({
  id,
  type: 'IPAssignment',
  address,
  cidr: 32,
  assigned_to: { href: `/metal/v1/devices/${machine}` },
  parent_block: { href: `/metal/v1/ips/${reservation}` },
  href: `/metal/v1/ips/${id}`,
  ...changes,
})

const readings: { name: string; assignments: unknown; as: ReturnType<typeof parseAssignments> }[] = [
  { name: 'none', assignments: [], as: [] },
  { name: 'one', assignments: [assignment()], as: [{ id, machine }] },
  { name: 'one without a type, as before 2023', assignments: [assignment({ type: undefined })], as: [{ id, machine }] },
  { name: 'a machine in full', assignments: [assignment({ assigned_to: { id: machine } })], as: [{ id, machine }] },
  { name: 'another address of the block', assignments: [assignment({ address: '203.0.113.41' })], as: [] },
  { name: 'a network of the block', assignments: [assignment({ cidr: 31 })], as: [] },
  // From here on something is missing, and an address is never taken for one that no machine has.
  { name: 'no list', assignments: undefined, as: undefined },
  { name: 'null', assignments: null, as: undefined },
  { name: 'a reference alone', assignments: [{ href: `/metal/v1/ips/${id}` }], as: undefined },
  { name: 'no machine', assignments: [assignment({ assigned_to: null })], as: undefined },
  { name: 'no id', assignments: [assignment({ id: '' })], as: undefined },
  { name: 'the second of no machine', assignments: [assignment(), assignment({ assigned_to: {} })], as: undefined },
  // To delete one of these would lose the address.
  { name: 'the id of the reservation', assignments: [assignment({ id: reservation })], as: undefined },
  { name: 'a block', assignments: [assignment({ type: 'public_ipv4' })], as: undefined },
]
for (const { name, assignments, as } of readings)
  test(`assignments: ${name}`, () => assert.equal(parseAssignments(metalReservation({ assignments })), as))

test('whatever JSON comes, reading it does not fail', () =>
  fc.assert(fc.property(fc.jsonValue(), (value) => void parseAssignments(fieldsOf(value)))))

test.run()
