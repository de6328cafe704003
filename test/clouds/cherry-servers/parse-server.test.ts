import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parsePower, parseServer } from '../../../clouds/cherry-servers/parse-server.ts'
import type { Machine } from '../../../clouds/ports/machines.ts'
import { cherryServer, listed, lithuania, ownIp } from './fixtures.ts'

const readings: { name: string; changes: Record<string, unknown>; as: Partial<Machine> }[] = [
  { name: 'a server', changes: {}, as: {} },
  { name: 'a field nobody has heard of', changes: { os_raid_level: { deep: 1 } }, as: {} },
  { name: 'an id that is a text', changes: { id: '640117' }, as: {} },
  { name: 'a server without a name', changes: { hostname: null }, as: { name: '' } },
  { name: 'a server without a plan', changes: { plan: null }, as: { type: undefined } },
  { name: 'a region without a slug', changes: { region: { ...lithuania, slug: null } }, as: { region: undefined } },
  { name: 'a server in rescue mode', changes: { status: 'rescue mode' }, as: {} },
  { name: 'a server that is inactive', changes: { state: 'inactive' }, as: { state: 'off' } },
  {
    name: 'a server without addresses, as an answer to a change has it',
    changes: { ip_addresses: undefined },
    as: { addresses: [], privateNetwork: undefined },
  },
  {
    name: 'addresses that are none of the machine itself',
    changes: {
      ip_addresses: [
        null,
        7,
        {},
        ownIp('10.9.0.0', 'subnet'),
        ownIp('192.0.2.7', 'new-kind'),
        ownIp('x', 'primary-ip'),
      ],
    },
    as: { addresses: [], privateNetwork: undefined },
  },
  {
    name: 'a floating IP that goes to the server',
    changes: { ip_addresses: [ownIp('203.0.113.50', 'floating-ip')] },
    as: { addresses: [{ address: '203.0.113.50', isPublic: true, isElastic: true }], privateNetwork: undefined },
  },
  {
    name: 'IPv6',
    changes: { ip_addresses: [ownIp('2001:0db8::0010', 'primary-ip', { address_family: 6 })] },
    as: { addresses: [{ address: '2001:db8::10', isPublic: true, isElastic: false }], privateNetwork: undefined },
  },
  ...['10.0.0.0', '10.0.0.0/33', 'fd00::/64', '10.0.0.0/8/8', ''].map((cidr) => ({
    name: `a private network ${JSON.stringify(cidr)}`,
    changes: { ip_addresses: [ownIp('10.0.0.2', 'private-ip', { cidr })] },
    as: { addresses: [{ address: '10.0.0.2', isPublic: false, isElastic: false }], privateNetwork: undefined },
  })),
]
for (const { name, changes, as } of readings)
  test(`${name} is read`, () => assert.equal(parseServer(cherryServer(changes))?.machine, { ...listed, ...as }))

for (const id of [undefined, null, '', 0, 1.5])
  test(`what has ${String(id)} for an id is no machine`, () => assert.is(parseServer(cherryServer({ id })), undefined))

test('whatever JSON comes, reading it does not fail', () => {
  const server = fc.record({ id: fc.constant(7), ip_addresses: fc.array(fc.jsonValue()), region: fc.jsonValue() })
  fc.assert(fc.property(fc.jsonValue(), (value) => void [parseServer(value), parsePower(value)]))
  fc.assert(fc.property(server, (value) => assert.is(parseServer(value)?.machine.id, '7')))
})

test.run()
