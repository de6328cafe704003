import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority } from '../../../certs/authority.ts'
import type { CertSource } from '../../../certs/cert-source.ts'
import type { Exchange } from '../../../clouds/ports/cloud.ts'
import { makeMetrics } from '../../../telemetry/metrics/metrics.ts'
import { clientObservers, readCertificates } from '../../../telemetry/metrics/process.ts'

type Metrics = ReturnType<typeof makeMetrics>

/** The value of a metric without labels; undefined while it has none. */
async function valueOf(metrics: Metrics, name: string): Promise<number | undefined> {
  const [, value] = new RegExp(String.raw`^${name} (\S+)$`, 'm').exec(await metrics.text()) ?? []
  return value === undefined ? undefined : Number(value)
}

const succeeded: Exchange = { call: 'reserve', ms: 5, status: 201, fault: undefined, cloudRequest: undefined }
const failed: Exchange = { ...succeeded, status: 503, fault: 'unavailable' }

test('only an answer of the provider without a fault renews the time of the last success', async () => {
  const time = { ms: 1_800_000_000_000 }
  const clock = mock.method(Date, 'now', () => time.ms)
  try {
    const metrics = makeMetrics()
    const observers = clientObservers(metrics)
    const succeededAt = () => valueOf(metrics, 'eip_admission_cloud_last_success_timestamp_seconds')
    observers.cloud(failed)
    assert.is(await succeededAt(), undefined)
    observers.cloud(succeeded)
    assert.is(await succeededAt(), 1_800_000_000)
    time.ms += 60_000
    observers.cloud(failed)
    assert.is(await succeededAt(), 1_800_000_000)
    observers.cloud(succeeded)
    assert.is(await succeededAt(), 1_800_000_060)
  } finally {
    clock.mock.restore()
  }
})

test('calls are counted by their results, also those that fail', async () => {
  const metrics = makeMetrics()
  const observers = clientObservers(metrics)
  observers.cloud(succeeded)
  observers.cloud(failed)
  observers.apiServer({ call: 'get Service default/web', method: 'GET', result: 'Timeout', ms: 5 })
  const text = await metrics.text()
  for (const [name, labels] of [
    ['cloud', 'call="reserve",result="201"'],
    ['cloud', 'call="reserve",result="unavailable"'],
    ['api_server', 'method="GET",result="Timeout"'],
  ])
    assert.match(text, `eip_admission_${name}_call_duration_seconds_count{${labels}} 1`)
})

test('of several authorities the one that ends first counts', async () => {
  const now = Date.now()
  const hourMs = 3_600_000
  const authorities = await Promise.all(
    [30, 10, 20].map((hours) => issueAuthority({ commonName: `${hours}`, now, lifetimeMs: hours * hourMs })),
  )
  const metrics = makeMetrics()
  const bundle = { pem: '' }
  readCertificates(metrics, {
    caBundle: () => bundle.pem,
    notAfterMs: () => undefined,
  } as CertSource)
  const endsAt = () => valueOf(metrics, 'eip_admission_ca_not_after_timestamp_seconds')
  assert.is(await endsAt(), undefined, 'before the first one')
  bundle.pem = authorities.map(({ cert }) => cert).join('')
  assert.is(await endsAt(), Math.floor((now + 10 * hourMs) / 1000))
})

test.run()
