import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Announcer } from '../../../announcers/announcer.ts'
import { announcerOf } from '../../../announcers/announcers.ts'
import { empty } from '../../../announcers/empty.ts'
import { serviceAssigning } from '../../../controllers/assigning/declaration.ts'
import type { Service } from '../../../kube/objects.ts'
import { makeService } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { silentLog } from '../../fakes/log.ts'
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

test('a Service that writes its IPv6 address in another way concerns the same address', () => {
  const { vendor } = makeContext()
  const listeners: ((key: string, service?: Service) => void)[] = []
  const nothing = { list: () => [], get: () => undefined, onChange() {} }
  const services = { ...nothing, onChange: (one: (typeof listeners)[number]) => void listeners.push(one) }
  const deps = {
    announcer: announcerOf({ kind: 'assign', isProbed: false }, vendor.announcerMarks),
    vendor: { ...vendor, assignments: {} },
    client: apiServer().client,
    log: silentLog,
    caches: { services, records: nothing, nodes: nothing },
  }
  const assigning = serviceAssigning(deps as unknown as Parameters<typeof serviceAssigning>[0], () => Infinity)
  const due: string[] = []
  for (const subscribe of assigning?.declaration.watches ?? []) subscribe((key) => due.push(key))
  const service = makeService({ loadBalancerIP: '2001:DB8:0::7' })
  for (const listener of listeners) listener('default/web', service)
  assert.equal(due, ['2001:db8::7'])
})

test.run()
