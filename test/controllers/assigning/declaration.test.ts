import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcer } from '../../../announcers/announcer.ts'
import { announcerOf } from '../../../announcers/announcers.ts'
import { empty } from '../../../announcers/empty.ts'
import { serviceAssigning } from '../../../controllers/assigning/declaration.ts'
import { makeContext } from '../../commands/doctor/context.ts'

/** Declares the controller at a provider that cannot assign an address. */
function declared(announcer: Announcer) {
  const { vendor } = makeContext()
  const deps = { announcer, vendor: { ...vendor, assignments: undefined } }
  return serviceAssigning(deps as unknown as Parameters<typeof serviceAssigning>[0], () => Infinity)
}

test('nothing is assigned where software on the nodes announces the addresses', () =>
  assert.is(declared(empty()), undefined))

test('a provider that cannot assign an address is refused', () => {
  const { vendor } = makeContext()
  const assign = announcerOf({ kind: 'assign', isProbed: false }, vendor.announcerMarks)
  assert.throws(() => declared(assign), /^Equinix Metal cannot assign an address to a machine; choose another/)
})

test.run()
