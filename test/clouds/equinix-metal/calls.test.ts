import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { WholeVendor } from '../../../clouds/ports/cloud-provider.ts'
import { cloudErrorOf, neverAborted, startScript } from '../scripted-server.ts'
import { apiKey, metalAt } from './fixtures.ts'

const peering = { asn: 65_000, password: undefined }

/** Every call of the client, by the name that metrics give it. */
const calls: Record<string, (cloud: WholeVendor) => Promise<unknown>> = {
  reserve: (cloud) => cloud.reserve({ location: 'da', marks: {} }, neverAborted),
  reservation: (cloud) => cloud.reservation('id', neverAborted),
  reservations: (cloud) => cloud.reservations({}, neverAborted),
  locations: (cloud) => cloud.locations(neverAborted),
  machine: (cloud) => cloud.machine('id', neverAborted),
  machines: (cloud) => cloud.machines(neverAborted),
  assignments: (cloud) => cloud.assignments.assignedAddresses('tag', neverAborted),
  assignment: (cloud) => cloud.assignments.assignedAddress('id', neverAborted),
  peering: (cloud) => cloud.peering.project(neverAborted),
  'enable-peering': (cloud) => cloud.peering.enable(peering, neverAborted),
  sessions: (cloud) => cloud.peering.machines(neverAborted),
  'enable-session': (cloud) => cloud.peering.enableOn('id', neverAborted),
  peers: (cloud) => cloud.peering.peers('id', neverAborted),
}

for (const [name, call] of Object.entries(calls)) {
  test(`${name} never repeats the API key, though the provider does`, async () => {
    for (const status of [401, 403, 409, 422, 429]) {
      await using server = await startScript(() => ({ status, json: { error: `token ${apiKey} is bad` } }))
      const error = await cloudErrorOf(call(metalAt(server.url)))
      assert.match(error.message, '[redacted] is bad')
      assert.not.match(`${error.message} ${error.stack} ${JSON.stringify(error)}`, apiKey)
    }
  })

  test(`${name} goes by that name`, async () => {
    const seen: string[] = []
    await using server = await startScript(() => ({ status: 500, json: {} }))
    await cloudErrorOf(call(metalAt(server.url, { observe: ({ call }) => seen.push(call) })))
    assert.is(seen[0], name)
  })
}

test('release looks before it deletes, and never repeats the API key', async () => {
  const seen: string[] = []
  await using server = await startScript(() => ({ status: 401, json: { error: `token ${apiKey} is bad` } }))
  const cloud = metalAt(server.url, { observe: ({ call }) => seen.push(call) })
  const error = await cloudErrorOf(cloud.release({ id: 'id', marks: {} }, neverAborted))
  assert.equal(seen, ['reservation'])
  assert.not.match(`${error.message} ${error.stack} ${JSON.stringify(error)}`, apiKey)
})

test.run()
