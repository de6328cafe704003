import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ManagedFieldsEntry } from '../../../kube/managed-fields.ts'
import { entriesWithSharedFields, withoutSharedFields } from '../../../ledger/record/shared-fields.ts'

const own = { 'f:annotations': { 'f:eip-admission.dev/address': {} } }
const finalizers = { 'f:finalizers': { 'v:"eip-admission.dev/address-cleanup"': {} } }
const key = { 'f:example.com/key': {} }
const entry = (fieldsV1: NonNullable<ManagedFieldsEntry['fieldsV1']>, more: Partial<ManagedFieldsEntry> = {}) => ({
  manager: 'eip-admission',
  operation: 'Update',
  ...more,
  fieldsV1,
})
const spec = { 'f:spec': { 'f:loadBalancerIP': {} } }
const theirs = entry(spec, { manager: 'helm', operation: 'Apply' })
const ofStatus = entry({ 'f:status': { 'f:loadBalancer': {} } }, { subresource: 'status' })

const rows: [what: string, ours: ManagedFieldsEntry, kept: ManagedFieldsEntry | undefined][] = [
  [
    'our annotations and finalizer stay',
    entry({ 'f:metadata': { ...own, ...finalizers } }),
    entry({ 'f:metadata': { ...own, ...finalizers } }),
  ],
  ['the address goes', entry({ 'f:metadata': own, ...spec }), entry({ 'f:metadata': own })],
  [
    'annotations of other programs go',
    entry({ 'f:metadata': { 'f:annotations': { ...own['f:annotations'], ...key } } }),
    entry({ 'f:metadata': own }),
  ],
  ['an entry of which nothing is left goes', entry({ 'f:metadata': { 'f:annotations': key } }), undefined],
]
for (const [what, ours, kept] of rows)
  test(`of the fields that we manage, ${what}`, () => {
    const rest = [theirs, ofStatus]
    assert.equal(withoutSharedFields([ours, ...rest]), [...(kept ? [kept] : []), ...rest])
    const isShared = JSON.stringify(ours) !== JSON.stringify(kept)
    assert.equal(entriesWithSharedFields([ours, ...rest]), isShared ? [ours] : [])
  })

test.run()
