import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { makeMetrics } from '../../../telemetry/metrics/metrics.ts'
import { readLedger, sweepObserver } from '../../../ledger/ledger-metrics.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'

const record = (phase: string | undefined, location: string | undefined, ageS = 0): ElasticIP =>
  ({
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name: 'default.web', creationTimestamp: new Date(Date.now() - ageS * 1000).toISOString() },
    spec: location === undefined ? {} : { location },
    ...(phase === undefined ? {} : { status: { phase } }),
  }) as ElasticIP

/** The record of a Service, which waits for its address. */
const claimed = (namespace: string, ageS: number): ElasticIP => ({
  ...record('Requested', 'da', ageS),
  spec: { claimRef: { namespace, name: 'web' }, reclaimPolicy: 'Delete' },
})

type Watched = Parameters<typeof readLedger>[0]

async function textOf(records: ElasticIP[], limits: object = {}, services: string[] = []): Promise<string> {
  const metrics = makeMetrics()
  const get = (key: string) => (services.includes(key) ? {} : undefined)
  const cache = { list: () => records, get, hasSynced: () => true, silentForMs: () => 2_000 }
  const never = { ...cache, hasSynced: () => false }
  const caches = { records: cache, services: cache, nodes: never }
  readLedger({ caches, settings: { cluster: limits }, metrics } as unknown as Watched)
  return metrics.text()
}

test('addresses are counted by phase and location', async () => {
  const text = await textOf([
    record('Bound', 'da'),
    record('Bound', 'da'),
    record('Released', 'ny'),
    record(undefined, undefined),
  ])
  assert.match(text, 'eip_admission_addresses{phase="Bound",location="da"} 2')
  assert.match(text, 'eip_admission_addresses{phase="Released",location="ny"} 1')
  assert.match(text, 'eip_admission_addresses{phase="Requested",location=""} 1')
})

test('the oldest address that is missing counts, whatever has one', async () => {
  const text = await textOf([claimed('a', 90), claimed('b', 30), record('Bound', 'da', 9_000)], {}, ['a/web', 'b/web'])
  const [, seconds] = /^eip_admission_oldest_pending_seconds (\S+)$/m.exec(text) ?? []
  assert.ok(Math.abs(Number(seconds) - 90) < 25, seconds)
  assert.match(await textOf([record('Bound', 'da', 9_000)]), /^eip_admission_oldest_pending_seconds 0$/m)
})

test('nobody waits for the address of a Service that was refused', async () => {
  const text = await textOf([claimed('refused', 900), claimed('stored', 60)], {}, ['stored/web'])
  const [, seconds] = /^eip_admission_oldest_pending_seconds (\S+)$/m.exec(text) ?? []
  assert.ok(Math.abs(Number(seconds) - 60) < 25, seconds)
})

test('no Service waits for a warm or provisioned address', async () => {
  assert.match(await textOf([record('Requested', 'da', 900)]), /^eip_admission_oldest_pending_seconds 0$/m)
})

test('the address counts that its Service does not show for the longest time, until it shows it', async () => {
  const time = { ms: 1_000 }
  const clock = mock.method(performance, 'now', () => time.ms)
  try {
    const held = (name: string, address: string) =>
      ({
        ...record('Bound', 'da'),
        metadata: { name: `default.${name}` },
        spec: { claimRef: { namespace: 'default', name } },
        status: { phase: 'Bound', address },
      }) as ElasticIP
    const records = [held('web', '203.0.113.1')]
    const shown: Record<string, object[]> = {}
    const metrics = makeMetrics()
    const list = () => records
    const services = {
      list: () => [],
      get: (key: string) => ({ status: { loadBalancer: { ingress: shown[key] ?? [] } } }),
    }
    const caches = { records: { list, hasSynced: () => false }, services: { ...services, hasSynced: () => false } }
    readLedger({ caches, settings: { cluster: {} }, metrics } as unknown as Watched)
    const oldest = async () => /^eip_admission_oldest_unannounced_seconds (\S+)$/m.exec(await metrics.text())?.[1]
    assert.is(await oldest(), '0')
    time.ms += 60_000
    records.push(held('api', '203.0.113.2'))
    assert.is(await oldest(), '60')
    time.ms += 30_000
    assert.is(await oldest(), '90')
    shown['default/web'] = [{ ip: '203.0.113.1' }]
    assert.is(await oldest(), '30')
    shown['default/web'] = []
    assert.is(await oldest(), '30', 'its time begins again')
  } finally {
    clock.mock.restore()
  }
})

test('what counts for a limit is counted as the limit does', async () => {
  const bound = (name: string, namespace: string, facts: object = {}) =>
    ({
      ...record('Bound', 'da'),
      metadata: { name: `${namespace}.${name}`, uid: name },
      spec: { claimRef: { namespace, name, uid: name } },
      ...facts,
    }) as ElasticIP
  const unbound = { spec: { claimRef: { namespace: 'b', name: 'new' } }, status: { phase: 'Reserved' } }
  const text = await textOf([
    bound('web', 'a'),
    bound('api', 'b'),
    bound('new', 'b', unbound),
    bound('old', 'b', { status: { phase: 'Releasing', deletionRequestedAt: new Date().toISOString() } }),
    record('Available', 'da'),
  ])
  assert.match(text, 'eip_admission_addresses_counted{scope="cluster"} 4')
  assert.match(text, 'eip_admission_addresses_counted{scope="namespace"} 2')
  assert.match(text, 'eip_admission_addresses_counted{scope="unbound"} 1')
})

test('a limit that is off is left out', async () => {
  const text = await textOf([], { maxAddresses: 100, maxAddressesPerNamespace: undefined, maxUnbound: 25 })
  assert.match(text, 'eip_admission_addresses_limit{scope="cluster"} 100')
  assert.match(text, 'eip_admission_addresses_limit{scope="unbound"} 25')
  assert.not.match(text, 'eip_admission_addresses_limit{scope="namespace"}')
})

test('the watch of a cache that runs has an age', async () => {
  const text = await textOf([])
  assert.match(text, 'eip_admission_watch_silent_seconds{kind="records"} 2')
  assert.not.match(text, 'kind="nodes"')
})

test('a sweep shows what it found and when it ended', async () => {
  const metrics = makeMetrics()
  const observe = sweepObserver(metrics)
  assert.not.match(await metrics.text(), /^eip_admission_(last_sweep|unneeded)\S* \d/m)
  observe({ orphan: 2, surplus: 1, untagged: 0 })
  const text = await metrics.text()
  assert.match(text, 'eip_admission_unneeded_reservations{kind="orphan"} 2')
  assert.match(text, 'eip_admission_unneeded_reservations{kind="untagged"} 0')
  assert.match(text, /^eip_admission_last_sweep_timestamp_seconds \d+/m)
})

test.run()
