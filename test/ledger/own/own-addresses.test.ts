import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ownAddresses } from '../../../ledger/own/own-addresses.ts'
import type { ElasticIP, ElasticIPStatus } from '../../../ledger/record/elastic-ip.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { makeRecord, makeReservation, makeService } from '../../builders.ts'
import { silentLog } from '../../fakes/log.ts'
import { neverAborted, scheme, usualPolicy } from '../harness.ts'

const address = '203.0.113.40'

/** The check of a Service in namespace `other` that names the address, beside the record of default/web. */
async function checkBeside(status: ElasticIPStatus): Promise<Want> {
  let change: (key: string, record: ElasticIP) => void = () => {}
  const own = ownAddresses({
    vendor: {
      cloud: { reservations: () => Promise.resolve([makeReservation({ id: 'res-1', address })]) },
      policy: usualPolicy,
      marks: scheme,
    },
    cluster: scheme.cluster,
    log: silentLog,
    settings: { cluster: { ownAddressRanges: [] } },
    caches: {
      services: { list: () => [], onChange: () => {}, synced: () => Promise.resolve() },
      // The index of reservations listens before the listeners that tell of changes.
      records: {
        onChange(listener) {
          const before = change
          change = (key, record) => {
            before(key, record)
            listener(key, record, undefined)
          }
        },
      },
    },
    networks: { of: () => undefined, nodeClaim: () => undefined, onChange: () => {}, refresh: () => Promise.resolve() },
  })
  change('default.web', makeRecord(status))
  const service = makeService({ namespace: 'other', name: 'own', loadBalancerIP: address })
  const wanted: Want = { kind: 'own', address, where: 'spec.loadBalancerIP' }
  await own.refresh(wanted, neverAborted)
  return own.check(wanted, service)
}

const reservation = { reservationID: 'res-1', phase: 'Bound' as const }

test('the record of another namespace holds an address that it names, or whose reservation it names while it has none', async () => {
  assert.is((await checkBeside({ ...reservation, address })).kind, 'wrong')
  assert.is((await checkBeside(reservation)).kind, 'wrong')
})

test('a record with the id of the reservation and another address holds nothing: the provider has reused the id', async () => {
  assert.is((await checkBeside({ ...reservation, address: '203.0.113.99' })).kind, 'own')
})

test.run()
