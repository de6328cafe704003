import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serviceCIDRs } from '../../kube/resource.ts'
import { elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { makeDependencies } from '../../server/dependencies.ts'
import { makeMetrics } from '../../telemetry/metrics/metrics.ts'
import { empty } from '../../announcers/empty.ts'
import { makePolicy } from '../builders.ts'
import { apiServer } from '../fakes/api-server.ts'
import { silentLog } from '../fakes/log.ts'
import { scriptedCloud } from '../fakes/scripted-cloud.ts'

const { signal } = new AbortController()

test('no Service gets an address that the provider grants inside the cluster’s own networks', async () => {
  const api = apiServer()
  const { apiVersion, kind } = serviceCIDRs
  api.put(serviceCIDRs, { apiVersion, kind, metadata: { name: 'kubernetes' }, spec: { cidrs: ['10.96.0.0/16'] } })
  const cloud = scriptedCloud()
  const { ledger, networks } = makeDependencies({
    client: api.client,
    vendor: {
      cloud: cloud.cloud,
      project: { id: 'project-1', setting: 'METAL_PROJECT_ID' },
      marks: { usage: 'cloud-provider-equinix-metal-auto', separator: '/' },
      policy: makePolicy({ metro: 'da' }),
    },
    announcer: empty(),
    cluster: 'cluster-1',
    identity: 'one',
    settings: {
      process: { namespace: 'eip-admission', leaderElect: false, leaseDurationMs: 15_000 },
      cluster: { cloudTimeoutMs: 20_000, sweepIntervalMs: 300_000, sweepUntagged: false, ownAddressRanges: [] },
    },
    events: { of: () => ({ record() {} }) },
    metrics: makeMetrics(),
    log: silentLog,
  } as unknown as Parameters<typeof makeDependencies>[0])
  await ledger.project.check(signal)
  await networks.refresh(signal)
  const claim = { location: 'da', reclaim: 'Delete', family: 'ipv4', isShown: false, wait: false } as const
  cloud.fates = ['doubled', 'reserved']
  cloud.doubles = () => ['10.96.0.10']
  const inside = await ledger.claims.claim({ ...claim, key: 'default/web' }, signal)
  assert.match(JSON.stringify(inside), 'which is in a Service range of this cluster')
  assert.is((await ledger.claims.claim({ ...claim, key: 'default/api' }, signal)).kind, 'held')
  assert.equal(
    api.stored(elasticIPs).map(({ status }) => status?.address),
    [undefined, '203.0.113.2'],
  )
})

test.run()
