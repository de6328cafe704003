import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Reservation } from '../../../clouds/ports/cloud.ts'
import type { Node, Service } from '../../../kube/objects.ts'
import { serviceMarks } from '../../../ledger/record/marks.ts'
import { addressCondition } from '../../../ledger/record/names.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import type { Check } from '../../../commands/doctor/check.ts'
import type { Facts, Values } from '../../../inspect/facts.ts'
import { schemeOf } from '../../../inspect/wanted.ts'
import {
  doubledAddresses,
  orphanedRecords,
  pendingAddresses,
  shownAddressesHeld,
} from '../../../commands/doctor/checks/addresses.ts'
import { assignedAddresses } from '../../../commands/doctor/checks/assigned.ts'
import { leakedReservations } from '../../../commands/doctor/checks/reservations.ts'
import { makeRecord, makeReservation, makeService } from '../../builders.ts'
import { judge as judgeWith, lines as linesWith, makeContext } from './context.ts'
import { remedyText } from '../../../lib/remedy.ts'

const address = '203.0.113.40'
const env = { METAL_LOAD_BALANCER: 'empty://' }
const judge = (check: Check, values: Partial<Values>) => judgeWith(check, values, { env })
const lines = (check: Check, values: Partial<Values>, flags: Record<string, string> = {}) =>
  linesWith(check, values, { env, flags })
const cluster = { id: 'c', uid: 'c', ledger: undefined }
const bound = makeRecord({ phase: 'Bound', address, reservationID: 'res-1' })
const status = (ip: string) => ({ loadBalancer: { ingress: [{ ip }] } })
const annotations = { 'eip-admission.dev/address': address }
const ours = makeService({ annotations, loadBalancerIP: address, status: status(address) })
const named = (name: string, record: ElasticIP): ElasticIP => ({ ...record, metadata: { ...record.metadata, name } })

const condition = (reason: string, message: string): NonNullable<Service['status']> => ({
  conditions: [
    { type: addressCondition, status: 'False', reason, message, lastTransitionTime: '2026-02-01T11:00:00Z' },
  ],
})

test('what a Service shows is held for it, or a user-chosen address of the project', () => {
  const of = (services: Service[], records: ElasticIP[], reservations: Reservation[] = []) =>
    lines(shownAddressesHeld, { cluster, services, records, reservations })
  assert.match(of([ours], [bound])[0] ?? '', /^ok/)
  assert.equal(of([ours], []), [
    `error: Service default/web shows ${address} in status.loadBalancer and spec.loadBalancerIP and annotation eip-admission.dev/address, and no ElasticIP holds it`,
  ])
  // The same where the Service names an ElasticIP.
  const naming = makeService({
    annotations: { ...annotations, 'eip-admission.dev/elastic-ip': 'lot' },
    loadBalancerIP: address,
    status: status(address),
  })
  assert.match(of([naming], [bound])[0] ?? '', /^ok/)
  assert.match(of([naming], [])[0] ?? '', /^error: Service default\/web shows .* and no ElasticIP holds it$/)
  const releasing = makeRecord({ phase: 'Releasing', address, reservationID: 'res-1' })
  assert.match(of([ours], [releasing])[0] ?? '', /^error/)
  const other = makeService({ name: 'other', status: status(address) })
  assert.match(
    of([other], [bound])[0] ?? '',
    /^error: Service default\/other shows .* ElasticIP default.web holds it for default\/web$/,
  )
  // Two Services of a namespace share it, as every announcing software supports it.
  const shared = makeService({ name: 'udp', loadBalancerIP: address, ports: [{ port: 53 }], status: status(address) })
  assert.match(of([ours, shared], [bound])[0] ?? '', /^ok/)
  const elsewhere = { ...shared, metadata: { ...shared.metadata, namespace: 'shop' } }
  assert.match(of([ours, elsewhere], [bound])[0] ?? '', /^error: Service shop\/udp shows/)
  const own = makeService({ loadBalancerIP: address })
  assert.match(of([own], [], [makeReservation()])[0] ?? '', /^ok/)
  assert.match(of([own], [], [makeReservation({ address: '203.0.113.32', prefixLength: 28 })])[0] ?? '', /^ok/)
  assert.match(of([own], [])[0] ?? '', /^error/)
  const allowed = { '--own-address-ranges': '203.0.113.0/24' }
  assert.match(
    lines(shownAddressesHeld, { cluster, services: [own], records: [], reservations: [] }, allowed)[0] ?? '',
    /^ok/,
  )
  assert.match(of([makeService({ loadBalancerClass: 'x', status: status('192.0.2.1') })], [])[0] ?? '', /^ok/)
})

test('an address with two holders', () => {
  const of = (records: ElasticIP[], services: Service[] = []) => lines(doubledAddresses, { records, services })
  assert.match(of([bound], [ours])[0] ?? '', /^ok/)
  assert.equal(of([bound, named('default.other', bound)]), [
    `error: address ${address} is held by 2 ElasticIPs: default.web, default.other`,
  ])
  const source = named('lot', makeRecord({ phase: 'Bound', address }))
  const lent = makeRecord({ phase: 'Bound', address }, { source: { name: 'lot', type: 'Provisioned' } })
  assert.match(of([source, lent])[0] ?? '', /^ok/)
  assert.match(
    of([source, lent, named('default.other', lent)])[0] ?? '',
    /^error: the address of ElasticIP lot is held by 2/,
  )
  const other = named('default.other', bound)
  assert.match(of([source, lent, other])[0] ?? '', /^error: address .* is held by 2 ElasticIPs: lot, default.other$/)
  const elsewhere = makeService({ namespace: 'shop', status: status(address) })
  assert.match(of([], [ours, elsewhere])[0] ?? '', /^error: address .* default\/web, shop\/web$/)
})

test('a warm address is no second holder beside the record that claimed it', () => {
  const of = (records: ElasticIP[]) => lines(doubledAddresses, { records, services: [] })
  const warm = named('warm-da-1', makeRecord({ phase: 'Bound', address, reservationID: 'res-1' }))
  const fromWarm = (name: string, id = 'res-1') =>
    named(
      name,
      makeRecord({ phase: 'Bound', address, reservationID: id }, { source: { name: 'warm-da-1', type: 'WarmPool' } }),
    )
  assert.match(of([warm, fromWarm('default.web')])[0] ?? '', /^ok/)
  assert.match(of([warm, fromWarm('default.web'), fromWarm('default.other')])[0] ?? '', /: default.web, default.other$/)
  assert.match(of([warm, fromWarm('default.web', 'res-2')])[0] ?? '', /: warm-da-1, default.web$/)
  assert.match(of([warm, bound])[0] ?? '', /: warm-da-1, default.web$/)
})

test('a Service that waits, and one that is too young to wait', () => {
  const at = (creationTimestamp: string) => makeService({ creationTimestamp })
  const of = (service: Service, records: ElasticIP[] = []) =>
    lines(pendingAddresses, { services: [service], records })[0]
  assert.is(of(at('2026-02-01T11:00:00Z')), 'warning: Service default/web waits for its address')
  assert.match(of(at('2026-02-01T11:58:00Z')) ?? '', /^ok/)
  assert.match(of(at('2026-02-01T11:00:00Z'), [bound]) ?? '', /^ok/)
  const clash = condition('NotAnnounced', 'another Service has port 80/TCP')
  const own = makeService({ creationTimestamp: '2026-02-01T11:00:00Z', loadBalancerIP: address, status: clash })
  const [told] = judge(pendingAddresses, { services: [own], records: [] })
  assert.equal(
    [told?.what, told?.why],
    ['Service default/web waits for its address', 'another Service has port 80/TCP'],
  )
  const misspelt = makeService({
    creationTimestamp: '2026-02-01T11:00:00Z',
    annotations: { 'eip-admission.dev/reclaim-policy': 'Keep' },
  })
  assert.match(
    of(misspelt) ?? '',
    /^warning: Service default\/web gets no address: annotation eip-admission.dev\/reclaim/,
  )
  const waiting = makeRecord({ phase: 'Requested', message: 'the provider has none left' })
  const [found] = judge(pendingAddresses, { services: [at('2026-02-01T11:00:00Z')], records: [waiting] })
  assert.is(found?.why, 'the provider has none left')
})

test('a record without its Service, or without its reservation', () => {
  const of = (services: Service[], reservations: Reservation[]) =>
    lines(orphanedRecords, { records: [bound], services, reservations })
  assert.match(of([ours], [makeReservation()])[0] ?? '', /^ok/)
  assert.equal(of([], []), [
    `warning: ElasticIP default.web holds ${address} for Service default/web, which does not exist`,
    `error: ElasticIP default.web holds ${address}, but its reservation res-1 is not in the project`,
  ])
})

test('reservations by the rules of the sweep: leaked, not adopted, surplus, another cluster', () => {
  const scheme = schemeOf(cluster, makeContext())
  const marked = (key: string, facts: Partial<Reservation> = {}) =>
    makeReservation({ marks: serviceMarks(scheme, key), ...facts })
  const of = (reservations: Reservation[], services: Service[] = [], records: ElasticIP[] = []) =>
    lines(leakedReservations, { cluster, services, records, reservations })[0] ?? ''
  assert.match(of([marked('default/web')], [ours], [bound]), /^ok/)
  assert.is(
    of([marked('default/gone')]),
    `warning: reservation res-1 (${address}) has the marks of this cluster, but no ElasticIP and no Service needs it`,
  )
  assert.is(
    of([makeReservation({ marks: { ...serviceMarks(scheme, 'default/gone'), retained: 'true' } })]),
    `warning: reservation res-1 (${address}) was retained, and its ElasticIP is lost`,
  )
  assert.match(
    of([marked('default/web')], [makeService()]),
    /^warning: .* is for Service default\/web, but no ElasticIP holds it$/,
  )
  assert.match(
    of([marked('default/web', { id: 'res-2', address: '192.0.2.99' })], [ours], [bound]),
    /^warning: reservation res-2 .* which has another address$/,
  )
  const off = { env: { METAL_LOAD_BALANCER: 'none' } }
  const [live] = judgeWith(
    leakedReservations,
    { cluster, services: [ours], records: [], reservations: [marked('default/web')] },
    off,
  )
  assert.match(live?.what ?? '', /which shows its address but has no ElasticIP for it$/)
  assert.match(remedyText(live?.fix ?? ''), 'do not delete it')
  assert.match(of([makeReservation({ marks: serviceMarks({ ...scheme, cluster: 'theirs' }, 'default/gone') })]), /^ok/)
  assert.match(of([makeReservation()]), /^ok/)
  const ofPerson = { ...serviceMarks(scheme, 'default/gone'), usage: 'mail' }
  assert.match(of([makeReservation({ marks: ofPerson })]), /^ok/)
})

test('a reservation that names no cluster may be that of another one, where a predecessor wrote none', () => {
  const context = makeContext()
  const { vendor } = context
  const marks = { ...vendor.marks, adoptsUnmarked: true } as const
  const predecessors = { ...context, vendor: { ...vendor, marks } }
  const { cluster: _cluster, ...unnamed } = serviceMarks(schemeOf(cluster, predecessors), 'default/gone')
  const values = { cluster, services: [], records: [], reservations: [makeReservation({ marks: unnamed })] }
  const facts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]))
  const [found] = leakedReservations.run(facts as unknown as Facts, predecessors)
  assert.match(found?.what ?? '', /^reservation res-1 .* names no cluster, and no Service here shows its address$/)
})

test('where the provider assigns addresses, each is routed to a node that is Ready', () => {
  const given = {
    flags: { '--cloud-provider': 'hetzner' },
    env: { HCLOUD_TOKEN: 'key', HCLOUD_LOCATION: 'fsn1', HCLOUD_LOAD_BALANCER: 'assign:///' },
  }
  const node = (status: 'True' | 'Unknown'): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a' },
    spec: { providerID: 'hcloud://7' },
    status: { conditions: [{ type: 'Ready', status }] },
  })
  const old = makeService({ creationTimestamp: '2026-01-31T09:00:00Z' })
  const of = (machines: string[] | undefined, ready: 'True' | 'Unknown' = 'True') =>
    linesWith(
      assignedAddresses,
      {
        assigned: machines ? [{ id: 'res-1', address, machines, tags: [], marks: {} }] : [],
        services: [old],
        records: [bound],
        nodes: [node(ready)],
        machines: [],
      },
      given,
    )[0] ?? ''
  assert.match(of(['7']), /^ok/)
  assert.match(of(undefined), /^ok/, 'other checks say that the provider does not have it')
  assert.is(of([]), `error: address ${address} of Service default/web is routed to no machine`)
  assert.match(of(['8']), /^error: .* is routed to machine 8, which is not a node of this cluster$/)
  assert.match(of(['7'], 'Unknown'), /^warning: .* is routed to node a, which is not Ready$/)
  assert.equal(lines(assignedAddresses, {}), [], 'not with other software')
})

test.run()
