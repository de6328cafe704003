import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serveSettings } from '../../commands/settings/serve.ts'
import type { Fault } from '../../clouds/ports/cloud.ts'
import { dialects } from '../../sandbox/dialects.ts'
import { connectCloud, reportRefusals } from '../../server/cloud-connection.ts'
import { makeLog } from '../../server/log.ts'
import { eventRecorders, ownObject } from '../../telemetry/event-recorders.ts'
import { makeMetrics } from '../../telemetry/metrics/metrics.ts'
import { apiServer } from '../fakes/api-server.ts'
import { scriptedCloud } from '../fakes/scripted-cloud.ts'

const about = ownObject({ namespace: 'eip-admission', podName: 'eip-admission-x', podUid: undefined })
const { signal } = new AbortController()

/** The report of a reserve that fails like this. */
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
  ['quota', 'delete reservations that are not needed, or request a higher quota from the provider'],
  ['auth', 'give serve a token that may write'],
] as const)
  test(`an Event about the process says that the provider refuses an address for ${fault}`, async () => {
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

/** The log of a process with this verbosity that reserves an address and reads it, and the address. */
async function loggedAt(verbosity: number): Promise<{ lines: Record<string, unknown>[]; address: string }> {
  const dialect = dialects['equinix-metal']
  const { cloud, project, token } = await dialect.open()
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
  const log = await makeLog({ loggingFormat: 'json', verbosity }, { write })
  const flags = { '--cloud-provider': dialect.provider, '--base-url': cloud.url, '--v': String(verbosity) }
  const settings = serveSettings({ flags, env: dialect.env({ url: cloud.url, project, token }) })
  const events = eventRecorders({ client: apiServer().client, instance: 'one', log })
  const tools = { userAgent: 'test', proxy: {}, log, metrics: makeMetrics(), events, signal, observe: () => {} }
  try {
    const { vendor } = await connectCloud(settings, tools)
    const { id, address } = await vendor.cloud.reserve({ location: 'da', marks: {} }, signal)
    await vendor.cloud.reservation(id, signal)
    return { lines, address: address ?? '' }
  } finally {
    await cloud.close()
  }
}

for (const [verbosity, calls, isWhole] of [
  [1, false, false],
  [2, true, false],
  [3, true, true],
] as const)
  test(`with --v=${verbosity} the log has ${calls ? 'calls to the provider' : 'no call to the provider'}, and ${isWhole ? 'whole' : 'no'} reservations`, async () => {
    const { lines, address } = await loggedAt(verbosity)
    assert.is(
      lines.some(({ msg }) => msg === 'call to the provider'),
      calls,
    )
    const whole = lines.filter(({ reservation }) => String(reservation).includes(`"address":"${address}"`))
    assert.equal(
      whole.map(({ msg }) => msg),
      isWhole ? ['reserved', 'reservation read'] : [],
    )
  })

test.run()
