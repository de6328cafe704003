import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { grantedProblem } from '../../../ledger/claim/granted-address.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { isInRanges } from '../../../lib/ip-range.ts'
import { makeLot, makeRecord, makeReservation } from '../../builders.ts'
import { makeHarness } from '../harness.ts'

const address = '203.0.113.7'
const held = (facts: object, name = 'default.other'): ElasticIP => {
  const record = makeRecord({ phase: 'Bound', ...facts })
  return { ...record, metadata: { ...record.metadata, name } }
}

const cases: [name: string, granted: string, others: ElasticIP[], problem: string | undefined][] = [
  ['an ordinary address', address, [], undefined],
  ['no address', 'soon', [], 'reservation res-9 is "soon", which is no IP address'],
  ['a loopback address', '127.0.0.1', [], 'reservation res-9 is 127.0.0.1, which is a loopback address'],
  ['the address of metadata services', '169.254.169.254', [], 'which is a link-local address'],
  ['the broadcast address', '255.255.255.255', [], 'which is the broadcast address'],
  ['an address of a Service', '10.96.0.1', [], 'which is in a Service range of this cluster'],
  ["another record's address", address, [held({ address })], 'which ElasticIP default.other holds already'],
  ["another record's reservation", address, [held({ reservationID: 'res-9' })], 'which ElasticIP default.other holds'],
  ['the address of a record that is being released', address, [held({ phase: 'Releasing', address })], undefined],
  ['the address of the record itself', address, [held({ address }, 'default.web')], undefined],
]
for (const [name, granted, others, problem] of cases)
  test(`${name}: ${problem === undefined ? 'used' : 'refused'}`, () => {
    const facts = {
      clusterNetwork: (one: Parameters<typeof isInRanges>[0]) =>
        isInRanges(one, ['10.96.0.0/12']) ? 'in a Service range' : undefined,
      records: others,
    }
    const found = grantedProblem(makeRecord(), makeReservation({ id: 'res-9', address: granted }), facts)
    if (problem === undefined) assert.is(found, undefined)
    else assert.match(found ?? '', problem)
  })

test('a record may have the address of the ElasticIP that it came from', () => {
  const source = makeLot('office', { reclaimPolicy: 'Retain' }, { phase: 'Bound', address, reservationID: 'res-9' })
  const record = makeRecord({}, { source: { name: 'office', type: 'Provisioned' } })
  const facts = { clusterNetwork: () => undefined, records: [source] }
  assert.is(grantedProblem(record, makeReservation({ id: 'res-9', address }), facts), undefined)
})

test('a Service gets no address that a cloud grants twice, and nothing is deleted because of it', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.process('a')
  assert.is((await process.claim()).kind, 'held')
  harness.cloud.fates = ['requested']
  await process.claim({ key: 'default/db' })
  const [first, second] = harness.cloud.reserved()
  assert.ok(first && second)
  harness.cloud.put({ ...second, state: 'reserved', address: first.address })
  const claimed = await process.claim({ key: 'default/db' })
  assert.is(claimed.kind, 'pending')
  assert.match(claimed.kind === 'pending' ? claimed.reason : '', /holds already; it stays reserved/)
  assert.equal([harness.record('default/db')?.status?.address, harness.cloud.released], [undefined, []])
})

test.run()
