import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import { findRecord, typedName } from '../../kubectl-eip/reader.ts'
import { makeLot, makeRecord } from '../builders.ts'
import { address } from './builders.ts'

const named = (name: string, facts: Partial<ElasticIP['spec']>, uid = name): ElasticIP => {
  const record = makeRecord({ phase: 'Bound', address }, facts)
  return { ...record, metadata: { ...record.metadata, name, uid } }
}
const web = named('shop.web', { claimRef: { namespace: 'shop', name: 'web' } })
const six = named('shop.web.ipv6', { claimRef: { namespace: 'shop', name: 'web' } })
const lot = (name: string, facts: Partial<ElasticIP['spec']> = {}) =>
  makeLot(name, { reclaimPolicy: 'Retain', ...facts }, { phase: 'Available', address: '203.0.113.7' })
const claimRef = { namespace: 'shop', name: 'web' }
const office = lot('office')
const twin = lot('web')
const lender: ElasticIP = {
  ...lot('web', { claimRef: { ...claimRef, elasticIPUID: 'shop.web' } }),
  status: { phase: 'Bound', address },
}
const pending = makeLot('web', { reclaimPolicy: 'Retain' })

const rows: { name: string; text: string; records: ElasticIP[]; namespace?: string; is: ElasticIP | string }[] = [
  { name: 'an ElasticIP', text: 'office', records: [office, web], is: office },
  { name: 'a Service of the namespace', text: 'web', records: [office, web], is: web },
  { name: 'no Service of another namespace', text: 'web', records: [web], namespace: 'default', is: 'default/web' },
  { name: 'a Service with its namespace', text: 'shop/web', records: [twin, web], namespace: 'default', is: web },
  { name: 'the record of a Service', text: 'shop.web', records: [twin, web], is: web },
  { name: 'a second address', text: 'web.ipv6', records: [web, six], is: six },
  { name: 'a second address with its namespace', text: 'shop/web.ipv6', records: [web, six], is: six },
  { name: 'an address', text: '203.0.113.7', records: [office, web], is: office },
  { name: 'the ElasticIP of a lent address', text: address, records: [web, lender], is: lender },
  { name: 'the ElasticIP of a lent address by the name of both', text: 'web', records: [web, lender], is: lender },
  {
    name: 'neither of two of one name',
    text: 'web',
    records: [web, twin],
    is: 'web names several ElasticIPs: shop.web (write shop/web) and web (write its address, 203.0.113.7). Name one',
  },
  {
    name: 'neither of two of one name, of which one has no address yet',
    text: 'web',
    records: [web, pending],
    is: 'web (it has no address yet: wait for that)',
  },
  {
    name: 'neither of two with one address',
    text: address,
    records: [web, six],
    is: `several ElasticIPs have ${address}: shop.web (write shop/web) and shop.web.ipv6 (write shop/web.ipv6)`,
  },
  { name: 'no address', text: '203.0.113.99', records: [web], is: 'no ElasticIP has 203.0.113.99; list all with' },
  { name: 'no name', text: 'gone', records: [web], is: 'there is no ElasticIP gone, and none of Service shop/gone' },
  { name: 'no Service', text: 'a/b', records: [web], is: 'there is no ElasticIP of Service a/b; list all with' },
]

for (const { name, text, records, namespace = 'shop', is } of rows)
  test(`a person names ${name}`, () => {
    const find = () => findRecord(text, { records, namespace })
    if (typeof is === 'string') assert.throws(find, is)
    else assert.equal(find(), is)
  })

test('what a person is told to type names one record in every namespace', () => {
  assert.is(typedName(office, [office, web]), 'office')
  assert.is(typedName(web, [twin, web]), 'shop/web')
  assert.is(typedName(six, [web, six]), 'shop/web.ipv6')
  assert.is(typedName(twin, [twin, web]), '203.0.113.7')
  assert.is(typedName(pending, [pending, web]), 'web')
})

test.run()
