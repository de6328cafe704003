import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Fault } from '../../clouds/ports/cloud.ts'
import { reportRefusals } from '../../server/cloud-connection.ts'
import { ownObject } from '../../telemetry/own-object.ts'
import { scriptedCloud } from '../fakes/scripted-cloud.ts'

const about = ownObject({ namespace: 'eip-admission', podName: 'eip-admission-x', podUid: undefined })
const { signal } = new AbortController()

/** What is said of a reserve that fails like this. */
async function saidOf(fault: Fault | 'reserved'): Promise<{ said: string[]; status: string }> {
  const said: string[] = []
  const scripted = scriptedCloud()
  scripted.otherwise = fault
  const events = {
    record: (
      { metadata }: typeof about,
      { type, reason, message }: { type: string; reason: string; message: string },
    ) => void said.push(`${type} ${reason} ${metadata.name}: ${message}`),
    written: () => Promise.resolve(),
  }
  const cloud = reportRefusals(scripted.cloud, { events, about })
  const [{ status }] = await Promise.allSettled([cloud.reserve({ location: 'da', marks: {} }, signal)])
  return { said, status }
}

for (const [fault, remedy] of [
  ['quota', 'delete reservations that nobody needs, or ask the cloud for a higher quota'],
  ['auth', 'give serve a token that may write'],
] as const)
  test(`an Event about the process says that the cloud refuses an address for ${fault}`, async () => {
    const { said, status } = await saidOf(fault)
    assert.is(status, 'rejected')
    assert.is(said.length, 1)
    assert.match(
      said[0] ?? '',
      'Warning ReserveRefused eip-admission-x: Scripted Cloud refuses to reserve an address: ',
    )
    assert.ok(said[0]?.endsWith(`; ${remedy}`))
  })

for (const fault of ['unavailable', 'rate-limit', 'invalid', 'reserved'] as const)
  test(`nothing is said of a reserve with the outcome ${fault}`, async () =>
    assert.equal((await saidOf(fault)).said, []))

test.run()
