import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Checked, type Checks, guardianChecks, serveChecks } from '../../server/health-checks.ts'
import type { Service } from '../../kube/objects.ts'
import { answerHealth } from '../../server/listeners/health.ts'
import { makePolicy, makeService } from '../builders.ts'

const minuteMs = 60_000
const well = { silentForMs: () => 10 * minuteMs, hasSynced: () => true }
const lost = { ...well, silentForMs: () => 10 * minuteMs + 1 }
const unsynced = { ...well, hasSynced: () => false }
const reload = undefined
const listed = (cache: typeof well, services: Service[] = []) => ({ ...cache, list: () => services })
const quiet = { problem: () => undefined }
const rights = { ...quiet, observed: () => {}, list: () => [] }

function ofServe(caches: Partial<Checked['caches']>): Checks {
  const ledger: Checked['ledger'] = { project: quiet, heartbeats: { state: () => ({ kind: 'ours' }) } }
  const certs = { notReady: () => undefined }
  return serveChecks(
    { reload, rights, vendor: { policy: makePolicy({}) } },
    { caches: { services: listed(well), records: well, ...caches }, certs, ledger, probe: quiet, guardian: quiet },
  )
}

const ofGuardian = (caches: typeof well) => guardianChecks({ reload, rights }, { ...caches, ...quiet })

async function saidAt(path: string, checks: Checks): Promise<string> {
  const { status, text } = await answerHealth(path, { ...checks, metrics: async () => '' })
  const failed = text.split('\n').filter((line) => line.startsWith('[-]'))
  return [status, ...failed].join(' ')
}

const silence = 'no word from the API server for 10 minutes'
const noList = 'the first list has not arrived yet'
const rows: [what: string, checks: Checks, live: string, ready: string][] = [
  ['caches that heard something 10 minutes ago', ofServe({}), '200', '200'],
  [
    'a cache of Services silent for longer',
    ofServe({ services: listed(lost) }),
    `503 [-] watch-services: ${silence}`,
    '200',
  ],
  ['a cache of records silent for longer', ofServe({ records: lost }), `503 [-] watch-records: ${silence}`, '200'],
  ['a cache without its first list', ofServe({ records: unsynced }), '200', `503 [-] synced-records: ${noList}`],
  ['a guardian that heard something 10 minutes ago', ofGuardian(well), '200', '200'],
  ['a guardian that heard nothing for longer', ofGuardian(lost), `503 [-] watch-nodes: ${silence}`, '200'],
  ['a guardian without its first list', ofGuardian(unsynced), '200', `503 [-] synced-nodes: ${noList}`],
]
for (const [what, checks, live, ready] of rows)
  test(`what health says of ${what}`, async () => {
    assert.equal([await saidAt('/livez', checks), await saidAt('/healthz', checks)], [live, live])
    assert.is(await saidAt('/readyz', checks), ready)
  })

test('readiness reports Services that wait while load balancing is off, and does not fail', async () => {
  const says = async (loadBalancing: boolean, services: Service[]): Promise<[number, string | undefined]> => {
    const policy = { ...makePolicy({}), loadBalancing }
    const { details } = serveChecks(
      { reload, rights, vendor: { policy } },
      {
        caches: { services: listed(well, services), records: well },
        certs: { notReady: () => undefined },
        ledger: { project: quiet, heartbeats: { state: () => ({ kind: 'ours' }) } },
        probe: quiet,
        guardian: quiet,
      },
    )
    const { status, text } = await answerHealth('/readyz', { live: [], ready: [], details, metrics: async () => '' })
    return [status, text.split('\n').find((line) => line.includes('load balancing is off'))]
  }
  const [status, line = ''] = await says(false, [makeService(), makeService({ name: 'b' })])
  assert.is(status, 200)
  assert.match(
    line,
    /^\[!\] load-balancing: .*Services wait for an address: 2, such as default\/web; set --loadbalancer/,
  )
  const shown = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
  const quietServices = [
    makeService({ status: shown }),
    makeService({ type: 'ClusterIP' }),
    makeService({ loadBalancerClass: 'x' }),
  ]
  assert.equal(await says(false, quietServices), [200, undefined])
  assert.equal(await says(true, [makeService()]), [200, undefined])
})

test.run()
