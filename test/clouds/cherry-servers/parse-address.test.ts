import { inspect } from 'node:util'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Address, parseAddress } from '../../../clouds/cherry-servers/parse-address.ts'
import { cherryIp, cherryServer, lithuania, ownIp, reserved, serverSecrets } from './fixtures.ts'

type As = Partial<Omit<Address, 'reservation'>> & { reservation?: Partial<Address['reservation']> }

const readings: { name: string; changes: Record<string, unknown>; as: As }[] = [
  { name: 'a floating IP', changes: {}, as: {} },
  { name: 'a field nobody has heard of', changes: { bandwidth: { deep: 1 } }, as: {} },
  { name: 'no address yet', changes: { address: '' }, as: { reservation: { state: 'requested', address: undefined } } },
  { name: 'no region', changes: { region: null }, as: { reservation: { location: undefined } } },
  {
    name: 'a region by its number alone',
    changes: { region: { ...lithuania, slug: undefined } },
    as: { reservation: { location: undefined } },
  },
  {
    name: 'tags that are no texts',
    changes: { tags: { a: 'x', b: 7, c: null } },
    as: { reservation: { marks: { a: 'x' } }, tags: { a: 'x', b: 7, c: null } },
  },
  { name: 'tags that are a list', changes: { tags: [] }, as: { reservation: { marks: {} }, tags: {} } },
  {
    name: 'a server',
    changes: { targeted_to: cherryServer() },
    as: { reservation: { holder: 'server 640117' }, server: '640117' },
  },
  {
    name: 'a route',
    changes: { routed_to: ownIp('10.0.0.2', 'primary-ip') },
    as: { reservation: { holder: 'address 10.0.0.2' } },
  },
  {
    name: 'a route by its id alone',
    changes: { routed_to: { id: 'x' } },
    as: { reservation: { holder: 'address x' } },
  },
  {
    name: 'a route to the address of a server',
    changes: { routed_to: { ...ownIp('10.0.0.2', 'primary-ip'), assigned_to: cherryServer() } },
    as: { reservation: { holder: 'address 10.0.0.2' }, server: '640117' },
  },
  {
    name: 'a server and the route to it',
    changes: { targeted_to: { id: '640117' }, routed_to: { id: 'x', targeted_to: { id: 7 } } },
    as: { reservation: { holder: 'server 640117' }, server: '640117' },
  },
  { name: 'a server that is none', changes: { targeted_to: { id: 0 }, routed_to: null }, as: {} },
]
for (const { name, changes, as } of readings)
  test(`${name} is read`, () => {
    const { reservation, ...others } = as
    assert.equal(parseAddress(cherryIp(changes)), {
      tags: cherryIp().tags,
      server: undefined,
      ...others,
      reservation: { ...reserved, ...reservation },
    })
  })

for (const changes of [{ id: null }, { id: '' }, { type: 'primary-ip' }, { type: null }])
  test(`what has ${JSON.stringify(changes)} is no floating IP`, () =>
    assert.is(parseAddress(cherryIp(changes)), undefined))

test('the secrets of the server that has an address are not kept', () => {
  const address = parseAddress(cherryIp({ targeted_to: cherryServer(), routed_to: cherryServer() }))
  for (const secret of serverSecrets) assert.not.match(inspect(address, { depth: null }), secret)
})

test('whatever JSON comes, reading it does not fail', () => {
  const ip = fc.record({ id: fc.constant('id'), type: fc.constant('floating-ip'), tags: fc.jsonValue() })
  fc.assert(fc.property(fc.jsonValue(), (value) => void parseAddress(value)))
  fc.assert(fc.property(ip, (value) => assert.is(parseAddress(value)?.reservation.id, 'id')))
})

test.run()
