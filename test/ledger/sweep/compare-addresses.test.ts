// The cloud's complaints about addresses, as a sweep tells it to the owners of Services.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../../clouds/ports/cloud.ts'
import { makeService } from '../../builders.ts'
import { type Harness, makeHarness, neverAborted, type ProcessOptions } from '../harness.ts'

/** A Service that holds an address, of which the cloud has said nothing yet. */
async function holding(harness: Harness, options: ProcessOptions = {}) {
  harness.setAdoptionMark()
  harness.addService(makeService())
  const process = harness.process('sweeper', options)
  assert.is((await process.claim()).kind, 'held')
  return { process, id: harness.reservationsOf()[0] ?? '' }
}

test('the owner of an address learns what the provider says is wrong with it, at each sweep, and keeps the address', async () => {
  const harness = makeHarness()
  const { process, id } = await holding(harness)
  await process.sweep(neverAborted)
  assert.equal(harness.warnings, [])
  harness.cloud.problems.set(id, 'it is blocked')
  harness.cloud.problems.set('of somebody else', 'it is blocked')
  await process.sweep(neverAborted)
  await process.sweep(neverAborted)
  const text = `default/web: Scripted Cloud reports for 203.0.113.1 (reservation ${id}): it is blocked. The Service keeps it; ask Scripted Cloud why`
  assert.equal(harness.warnings, [text, text])
  assert.equal([harness.record()?.status?.address, harness.cloud.released], ['203.0.113.1', []])
  harness.cloud.problems.clear()
  await process.sweep(neverAborted)
  assert.is(harness.warnings.length, 2)
})

test('the owner of an address learns that the provider has another one in its reservation, and nothing is changed', async () => {
  const harness = makeHarness()
  const { process, id } = await holding(harness)
  const [reservation] = harness.cloud.reserved()
  if (reservation) harness.cloud.put({ ...reservation, address: '203.0.113.99' })
  await process.sweep(neverAborted)
  assert.equal(harness.warnings, [
    `default/web: the provider lists 203.0.113.99 for reservation ${id}, and the record has 203.0.113.1: nothing is changed; ask Scripted Cloud what is right`,
  ])
  assert.equal([harness.record()?.status?.address, harness.cloud.released], ['203.0.113.1', []])
})

test('a sweep is complete even if the provider does not report problems of addresses', async () => {
  const harness = makeHarness()
  const before = ({ verb }: { verb: string }) => {
    if (verb === 'problems') throw new CloudError('no answer', { fault: 'unavailable', outcome: 'nothing' })
  }
  const { process } = await holding(harness, { cloud: { before } })
  await process.sweep(neverAborted)
  assert.equal(harness.warnings, [])
})

test.run()
