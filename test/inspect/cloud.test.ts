import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError, type Fault } from '../../clouds/ports/cloud.ts'
import { cloudFacts } from '../../inspect/cloud.ts'
import type { CloudReader } from '../../inspect/reader.ts'
import { startCherry, key } from '../clouds/cherry-servers/stage.ts'
import { neverAborted } from '../clouds/scripted-server.ts'
import { makeContext } from '../commands/doctor/context.ts'

/** The reservations of a cloud that refuses so many reads first. */
async function reservationsAfter(refusals: number, fault: Fault) {
  let calls = 0
  const reader = {
    cloud: {
      reservations: async () => {
        calls += 1
        if (calls <= refusals) throw new CloudError('refused', { fault, outcome: 'nothing', retryAfterMs: 1 })
        return []
      },
      locations: async () => [],
    },
    machines: { machines: async () => [] },
  } as unknown as CloudReader
  const { reservations } = await cloudFacts(reader, { context: makeContext(), pace: { calls: 0, limited: 0 } })
  return { reservations, calls }
}

test('a read that the rate limit refuses is tried again, and one that fails otherwise is not', async () => {
  assert.equal(await reservationsAfter(2, 'rate-limit'), { reservations: { value: [] }, calls: 3 })
  const { reservations, calls } = await reservationsAfter(3, 'rate-limit')
  assert.equal([reservations, calls], [{ unread: 'refused', fault: 'rate-limit' }, 3])
  assert.is((await reservationsAfter(1, 'auth')).calls, 1)
})

test('the neighbours of 200 machines are in one list where the vendor has one', async () => {
  await using cherry = await startCherry()
  const { control } = cherry
  const ids = Array.from({ length: 200 }, (_, n) => String(control.devices.add({ hostname: `node-${n}` })['id']))
  const cloud = cherry.cloudWith(key)
  await cloud.peering.enable({ asn: undefined, password: undefined }, neverAborted)
  await Promise.all(ids.map((id) => cloud.peering.enableOn(id, neverAborted)))
  control.calls.clear()
  const context = makeContext({ flags: { '--loadbalancer': 'metallb:///' } })
  const { peers } = await cloudFacts({ ...cloud, cloud, machines: cloud }, { context, pace: { calls: 0, limited: 0 } })
  assert.ok('value' in peers)
  assert.equal(
    [...peers.value.values()].map(({ length }) => length),
    Array(200).fill(2),
  )
  assert.is(control.calls.count('GET /servers/{id}'), 0)
  assert.is(control.calls.count('GET /projects/{id}/servers'), 2)
})

test.run()
