import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseMachine } from '../../../clouds/equinix-metal/machines.ts'
import type { Machine } from '../../../clouds/ports/machines.ts'
import { dallas, machine, metalAssignment, metalDevice } from './fixtures.ts'

const outside = metalAssignment('198.51.100.11', { public: true })
const block = { network: '10.66.142.0', cidr: 25 }
const inside = (changes: Record<string, unknown>) => metalAssignment('10.66.142.17', changes)
const own = { address: '10.66.142.17', isPublic: false, isElastic: false }

const readings: { name: string; changes: Record<string, unknown>; as: Partial<Machine> }[] = [
  { name: 'a device', changes: {}, as: {} },
  { name: 'a field nobody has heard of', changes: { colour: { deep: 'red' } }, as: {} },
  { name: 'a device without a name', changes: { hostname: null }, as: { name: '' } },
  { name: 'a device without a plan', changes: { plan: null }, as: { type: undefined } },
  { name: 'a plan that is a reference', changes: { plan: { href: '/metal/v1/plans/x' } }, as: { type: undefined } },
  { name: 'a metro in capitals', changes: { metro: { ...dallas, code: 'DA' } }, as: {} },
  { name: 'a device whose facility alone knows the metro', changes: { metro: null }, as: {} },
  { name: 'a device in no place', changes: { metro: null, facility: null }, as: { region: undefined } },
  { name: 'no facility', changes: { facility: null }, as: {} },
  {
    name: 'a device without addresses yet',
    changes: { ip_addresses: [] },
    as: { addresses: [], privateNetwork: undefined },
  },
  {
    name: 'addresses that are none',
    changes: { ip_addresses: [null, 7, {}, { address: null }, { address: '10.0.0.0/8' }, { address: 'fe80::1%eth0' }] },
    as: { addresses: [], privateNetwork: undefined },
  },
  {
    name: 'an address that the device holds for now',
    changes: { ip_addresses: [metalAssignment('203.0.113.40', { public: true, management: false, cidr: 32 })] },
    as: { addresses: [{ address: '203.0.113.40', isPublic: true, isElastic: true }], privateNetwork: undefined },
  },
  {
    name: 'an elastic address out of a private block',
    changes: {
      ip_addresses: [
        inside({ management: false, parent_block: { network: '10.9.0.0', cidr: 24 } }),
        inside({ parent_block: block }),
      ],
    },
    as: { addresses: [{ ...own, isElastic: true }, own] },
  },
  {
    name: 'a private network that is a reference',
    changes: { ip_addresses: [inside({})] },
    as: { addresses: [own], privateNetwork: undefined },
  },
  {
    name: 'a device without a private network',
    changes: { ip_addresses: [outside] },
    as: { addresses: [{ address: '198.51.100.11', isPublic: true, isElastic: false }], privateNetwork: undefined },
  },
  {
    name: 'several private networks, the first of which counts',
    changes: {
      ip_addresses: [inside({ parent_block: block }), inside({ parent_block: { network: '10.9.0.0', cidr: 24 } })],
    },
    as: { addresses: [own, own] },
  },
  ...[
    { network: '10.66.142.0', cidr: 33 },
    { network: '10.66.142.0', cidr: '25' },
    { network: 'fd00::', cidr: 64 },
  ].map((wrong) => ({
    name: `a block ${JSON.stringify(wrong)}`,
    changes: { ip_addresses: [inside({ parent_block: wrong })] },
    as: { addresses: [own], privateNetwork: undefined },
  })),
]
for (const { name, changes, as } of readings)
  test(`${name} is read`, () => assert.equal(parseMachine(metalDevice(changes)), { ...machine, ...as }))

const states = {
  active: 'on',
  inactive: 'off',
  queued: 'changing',
  provisioning: 'changing',
  deprovisioning: 'changing',
  reinstalling: 'changing',
  failed: 'changing',
  powering_on: 'changing',
  powering_off: 'changing',
  deleted: 'changing',
  cooking: 'changing',
}
for (const [state, as] of Object.entries(states))
  test(`a device that is ${state} is ${as}`, () => assert.is(parseMachine(metalDevice({ state }))?.state, as))

test('a device without a state is changing', () =>
  assert.is(parseMachine(metalDevice({ state: null }))?.state, 'changing'))

for (const id of [undefined, null, '', 7])
  test(`what has ${String(id)} for an id is no machine`, () => assert.is(parseMachine(metalDevice({ id })), undefined))

test('whatever JSON comes, reading it does not fail', () => {
  const device = fc.record({ id: fc.constant('id'), ip_addresses: fc.array(fc.jsonValue()), metro: fc.jsonValue() })
  fc.assert(fc.property(fc.jsonValue(), (value) => void parseMachine(value)))
  fc.assert(fc.property(device, (value) => assert.is(parseMachine(value)?.id, 'id')))
})

test.run()
