// Each alert fires in its case and not in the healthy one beside it, by Prometheus' own evaluation.
import { spawnSync } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { alertGroups } from '../../telemetry/alerts/rules.ts'
import { promtoolProgram } from '../../sandbox/promtool/build.ts'
import {
  type Series,
  always,
  end,
  from,
  guardian,
  healthy,
  of,
  reviews,
  rising,
  rollingUpdate,
  until,
} from './alert-series.ts'
import { type AlertTest, rulesFile, testAlerts } from './promtool.ts'

const call = (result: string, name = 'reserve') =>
  of('a', 'eip_admission_cloud_call_duration_seconds_count', { call: name, result })
const apiCall = (result: string) =>
  of('a', 'eip_admission_api_server_call_duration_seconds_count', { method: 'PATCH', result })
const guardianApiCall = (node: string, result: string) => {
  const labels = { job: 'eip-admission/control-plane', method: 'GET', result }
  return of(`${node}:10268`, 'eip_admission_api_server_call_duration_seconds_count', labels)
}
const reconcile = (result: string) =>
  of('a', 'eip_admission_reconcile_duration_seconds_count', { controller: 'service-controller', result })
const errors = of('a', 'eip_admission_review_duration_seconds_count', {
  webhook: 'reserve.eip-admission.dev',
  verdict: 'error',
})
const moves = (result: string, reason = 'failed') => guardian('n1', 'moves_total', { reason, result })
const probes = (node: string, result: string, by = 'n1') => guardian(by, 'probes_total', { node, result })
const info = { version: '1', node_version: '24', cloud: 'x' }
const counted = (scope: string, name = 'a') => of(name, 'eip_admission_addresses_counted', { scope })
const limit = (scope: string) => of('a', 'eip_admission_addresses_limit', { scope })
const started = of('a', 'process_start_time_seconds')
const orphans = of('a', 'eip_admission_unneeded_reservations', { kind: 'orphan' })
const depth = of('a', 'workqueue_depth', { name: 'service-controller' })
const silence = of('a', 'eip_admission_watch_silent_seconds', { kind: 'services' })
const lastSuccess = of('a', 'eip_admission_cloud_last_success_timestamp_seconds')
const without = (pattern: RegExp): Series =>
  Object.fromEntries(Object.keys(healthy).flatMap((name) => (pattern.test(name) ? [[name, '_']] : [])))
/** Each guardian finds these nodes bad from the first hour on. */
const badNodes = (...nodes: string[]): Series =>
  Object.fromEntries(
    nodes.flatMap((node) =>
      ['n1', 'n2', 'n3'].flatMap((by) => [
        [probes(node, 'ok', by), '0+30x119 3570x240'],
        [probes(node, 'failed', by), from(60, '_', rising(30))],
      ]),
    ),
  )
/** From the second hour on no guardian can read the cloud: each leads for a minute, and shows its problem later. */
const blindGuardians = (): Series =>
  Object.fromEntries(
    ['n1', 'n2', 'n3'].flatMap((node, turn) => {
      const inTurn = (first: number, second: number) =>
        Array.from({ length: 80 }, (_, minute) => (minute % 3 === turn ? `${first} ${second}` : '0 0')).join(' ')
      return [
        [guardian(node, 'leader'), `${node === 'n1' ? 1 : 0}x119 ${inTurn(1, 1)}`],
        [guardian(node, 'problem'), `0x119 ${inTurn(0, 1)}`],
        [guardian(node, 'cloud_read_age_seconds'), node === 'n1' ? from(60, 59, rising(30)) : rising(30)],
      ]
    }),
  )
/** From the second hour on the cloud carries out nothing, with all that follows from it. */
function brokenCloud(answers: Series): Series {
  return {
    [lastSuccess]: '0+30x119 3570x240',
    [call('201')]: '0+2x119 238x240',
    [call('unavailable')]: '0x119 0+5x240',
    ...answers,
    [of('a', 'eip_admission_oldest_pending_seconds')]: from(62, 45, rising(30)),
    [of('a', 'eip_admission_last_sweep_timestamp_seconds')]: '0+30x119 3570x240',
    [reconcile('ok')]: '0+20x119 2380x240',
    [reconcile('error')]: '0x119 0+5x240',
    [depth]: from(60, 0, always(300)),
    ...slowReviews('a'),
    ...slowReviews('b'),
    [guardian('n1', 'problem')]: from(61, 0, always(1)),
    [guardian('n1', 'cloud_read_age_seconds')]: from(60, 59, rising(30)),
  }
}

/** From the second hour on each review takes more than five seconds. */
function slowReviews(replica: string): Series {
  const bounds = Object.keys(reviews(replica, []))
  return Object.fromEntries(bounds.map((name, n) => [name, `0+10x119 1190+${n < 4 ? 0 : 10}x240`]))
}

/** Now and then a call ends in another error. */
const refusedKey: Series = { [call('unavailable')]: rising(0.2), [call('auth', 'list')]: from(60, '_', rising(1)) }

/** From the second hour on each order meets the quota. */
const quotaUsedUp: Series = { [call('quota')]: from(60, '_', rising(1)) }

/** From the second hour on, for so many minutes. */
const during = (minutes: number, usual: number, value: number) =>
  `${usual}x119 ${value}x${2 * minutes - 1} ${usual}x${360 - 120 - 2 * minutes}`

/** The same value, and a gap of five minutes after the first hour. */
const gap = (value: string) => `${value}x119 stale _x9 ${value}x230`

type Case = [name: string, change: Series, ...fired: string[]]

const shortCases: Case[] = [
  ['a healthy cluster', {}],
  ['an address waits for four minutes', { [of('a', 'eip_admission_oldest_pending_seconds')]: '0+30x8 0x350' }],
  [
    'an address waits for ever',
    { [of('a', 'eip_admission_oldest_pending_seconds')]: rising(30) },
    'EIPAdmissionAddressPending',
  ],
  ['MetalLB restarts', { [of('a', 'eip_admission_oldest_unannounced_seconds')]: during(4, 0, 240) }],
  [
    'MetalLB is silent',
    { [of('a', 'eip_admission_oldest_unannounced_seconds')]: from(60, 0, rising(30)) },
    'EIPAdmissionAddressesNotAnnounced',
  ],
  ['the cluster is at nine tenths', { [counted('cluster')]: always(90) }],
  ['the cluster has 95 of 100', { [counted('cluster')]: always(95) }, 'EIPAdmissionLimitNear'],
  ['a namespace has all of its addresses', { [counted('namespace', 'b')]: always(20) }, 'EIPAdmissionLimitNear'],
  [
    'many addresses are unbound',
    { [counted('unbound')]: always(99), [limit('unbound')]: always(100) },
    'EIPAdmissionLimitNear',
  ],
  ['there is no limit', { [counted('unbound')]: always(99), ...without(/addresses_limit/) }],
  ['the id is foreign for a moment', { [of('a', 'eip_admission_cluster_id_in_use')]: during(4, 0, 1) }],
  [
    'two clusters have one id',
    { [of('a', 'eip_admission_cluster_id_in_use')]: from(60, 0, always(1)) },
    'EIPAdmissionClusterIdInUse',
  ],
  ['a replica has another project for a moment', { [of('b', 'eip_admission_other_project')]: during(4, 0, 1) }],
  [
    'a replica has another project',
    { [of('b', 'eip_admission_other_project')]: from(60, 0, always(1)) },
    'EIPAdmissionOtherProject',
  ],

  ['a predecessor is started for a minute', { [of('a', 'eip_admission_running_predecessors')]: during(1, 0, 1) }],
  [
    'a predecessor is started again',
    { [of('a', 'eip_admission_running_predecessors')]: from(60, 0, always(1)) },
    'EIPAdmissionPredecessorRuns',
  ],
  [
    'three probes through the API server fail',
    {
      [of('a', 'eip_admission_webhooks_reached')]: during(6, 1, 0),
      [of('b', 'eip_admission_webhooks_reached')]: during(6, 1, 0),
    },
  ],
  [
    'the API server does not call the webhooks',
    {
      [of('a', 'eip_admission_webhooks_reached')]: from(60, 1, always(0)),
      [of('b', 'eip_admission_webhooks_reached')]: from(60, 1, always(0)),
    },
    'EIPAdmissionWebhooksNotReached',
  ],
  ['nothing is probed', without(/webhooks_reached/)],
  ['a review was missed', { [of('a', 'eip_admission_services_without_admission_total')]: from(60, 0, always(1)) }],
  [
    'many reviews were missed',
    { [of('a', 'eip_admission_services_without_admission_total')]: from(60, 0, '0+1x5 5x234') },
    'EIPAdmissionServicesMissed',
  ],
  ['one review in 40 is slow', reviews('a', [4, 30, 39, 39, 40, 40])],
  [
    'a fifth of the reviews are slow',
    { ...reviews('a', [4, 7, 8, 8, 10, 10]), ...reviews('b', [4, 7, 8, 8, 10, 10]) },
    'EIPAdmissionReviewsSlow',
  ],
  ['no reviews at all', without(/review_duration/)],
  ['one review fails', { [errors]: from(60, '_', always(1)) }, 'EIPAdmissionReviewsFail'],
  ['a review failed long ago, before Prometheus came', { [errors]: always(1), [started]: always(-86_400) }],
  ['a review failed in a young process', { [errors]: always(1) }, 'EIPAdmissionReviewsFail'],

  ['the quota is used up', { [call('quota')]: from(60, '_', always(1)) }, 'EIPAdmissionCloudRefuses'],
  ['the key is wrong', { [call('auth', 'list')]: from(60, '_', rising(1)) }, 'EIPAdmissionCloudRefuses'],
  ['calls are invalid or conflict', { [call('invalid')]: from(60, '_', rising(1)) }],
  ['half of the calls fail', { [call('unavailable')]: rising(8) }, 'EIPAdmissionCloudErrors'],
  [
    'half of the calls meet the rate limit',
    { [call('rate-limit')]: from(60, '_', rising(8)) },
    'EIPAdmissionCloudErrors',
  ],
  ['the provider is down for five minutes', { [call('unavailable')]: '0x119 0+20x10 200x230' }],
  ['the provider is down', { [lastSuccess]: '0+30x119 3570x240' }, 'EIPAdmissionCloudSilent'],
  ['the provider never answered the leader', without(/cloud_last_success/), 'EIPAdmissionCloudSilent'],
  ['the provider is silent for nine minutes', { [lastSuccess]: '0+30x119 3570x17 4140+30x221' }],
  [
    'the provider is not asked for an hour',
    { [lastSuccess]: '0+30x59 1770x119 5370+30x180', ...without(/unavailable/) },
  ],
  ['all that a cloud brings about that is down', brokenCloud({}), 'EIPAdmissionCloudSilent'],
  ['the same from a key that is refused', brokenCloud(refusedKey), 'EIPAdmissionCloudRefuses'],
  [
    'a used-up quota keeps only waiting addresses quiet',
    { ...quotaUsedUp, [of('a', 'eip_admission_oldest_pending_seconds')]: from(60, 45, rising(30)) },
    'EIPAdmissionCloudRefuses',
  ],
  [
    'much else is wrong while the quota is used up',
    {
      ...quotaUsedUp,
      [of('a', 'eip_admission_last_sweep_timestamp_seconds')]: '0+30x119 3570x240',
      [reconcile('unsettled')]: from(60, '_', rising(60)),
      [depth]: from(60, 0, always(300)),
      ...slowReviews('a'),
      ...slowReviews('b'),
      [guardian('n1', 'problem')]: from(61, 0, always(1)),
      [guardian('n1', 'cloud_read_age_seconds')]: from(60, 59, rising(30)),
    },
    'EIPAdmissionCloudRefuses',
    'EIPAdmissionSweepOld',
    'EIPAdmissionReconcilesFail',
    'EIPAdmissionQueueStuck',
    'EIPAdmissionReviewsSlow',
    'EIPAdmissionControlPlaneProblem',
    'EIPAdmissionControlPlaneCloudReadOld',
  ],
  [
    'the provider is down after the quota was used up',
    { ...brokenCloud({}), [call('quota')]: from(60, '_', rising(1)) },
    'EIPAdmissionCloudRefuses',
    'EIPAdmissionCloudSilent',
  ],
  [
    'a cluster id is used twice while the provider is down',
    { ...brokenCloud({}), [of('a', 'eip_admission_cluster_id_in_use')]: from(60, 0, always(1)) },
    'EIPAdmissionCloudSilent',
    'EIPAdmissionClusterIdInUse',
  ],
  [
    'sweeps fail',
    { [of('a', 'eip_admission_last_sweep_timestamp_seconds')]: '0+30x119 3570x240' },
    'EIPAdmissionSweepOld',
  ],
  ['no sweep ever ended', { [of('a', 'eip_admission_last_sweep_timestamp_seconds')]: '_' }, 'EIPAdmissionSweepOld'],

  ['Prometheus reads nothing', without(/./), 'EIPAdmissionDown'],
  [
    'Prometheus reads nothing for five minutes',
    Object.fromEntries(
      Object.entries(healthy)
        .filter(([name]) => name.includes('_leader{'))
        .map(([name, values]) => [name, gap(values.replace(/x.*/, ''))]),
    ),
  ],
  ['nobody leads for two minutes', { [of('a', 'eip_admission_leader')]: during(2, 1, 0) }],
  ['nobody leads', { [of('a', 'eip_admission_leader')]: from(60, 1, always(0)) }, 'EIPAdmissionNoLeader'],
  ['a process starts again once', { [of('a', 'process_start_time_seconds')]: '0x119 3600x240' }],
  [
    'a process starts again and again',
    { [of('a', 'process_start_time_seconds')]: '0x119 3600x9 3900x9 4200x220' },
    'EIPAdmissionRestarts',
  ],
  ['another program starts again and again', { [of('z', 'process_start_time_seconds', { job: 'other' })]: rising(30) }],
  ['a wrong file is corrected', { [of('a', 'eip_admission_settings_last_reload_successful')]: during(14, 1, 0) }],
  [
    'a wrong file stays',
    { [of('a', 'eip_admission_settings_last_reload_successful')]: from(60, 1, always(0)) },
    'EIPAdmissionSettingsRefused',
  ],
  ['a burst of keys', { [depth]: during(12, 0, 300) }],
  ['keys wait all the time', { [depth]: from(60, 0, always(300)) }, 'EIPAdmissionQueueStuck'],
  ['the queue of another program is long', { [of('z', 'workqueue_depth', { job: 'other', name: 'x' })]: always(300) }],
  ['a third of the reconciles fail', { [reconcile('error')]: rising(14) }],
  [
    'most reconciles do not settle',
    { [reconcile('unsettled')]: from(60, '_', rising(60)) },
    'EIPAdmissionReconcilesFail',
  ],
  ['a user makes a mistake in each Service', { [reconcile('terminal')]: rising(60) }],
  [
    'a fifth of the calls to the API server fail',
    { [apiCall('Unreachable')]: rising(60) },
    'EIPAdmissionAPIServerErrors',
  ],
  [
    'the API server beside one guardian is down',
    Object.fromEntries(['ok', 'Unreachable'].map((result) => [guardianApiCall('n2', result), rising(200)])),
  ],
  ['a right is missing', { [apiCall('Forbidden')]: from(60, '_', rising(60)) }, 'EIPAdmissionAPIServerErrors'],
  ['many conflicts', { [apiCall('Conflict')]: rising(500) }],
  ['a watch is silent', { [silence]: '0+30x240 7200x120' }, 'EIPAdmissionWatchSilent'],
  ['a watch is silent for six minutes at a time', { [silence]: '0+30x12 0+30x12 0+30x12 0x320' }],
  [
    'MetalLB refused a pool',
    { [of('a', 'eip_admission_announcer_problems_total')]: from(60, 0, always(1)) },
    'EIPAdmissionAnnouncerRefuses',
  ],
  ['a node is deleted after its machine', { [of('a', 'eip_admission_nodes_without_machine')]: during(10, 0, 2) }],
  [
    'nodes without machines are kept',
    { [of('a', 'eip_admission_nodes_without_machine')]: from(60, 0, always(3)) },
    'EIPAdmissionNodeRemovalHeld',
  ],

  [
    'a certificate of a day is renewed when a third is left',
    { [of('a', 'eip_admission_cert_not_after_timestamp_seconds')]: '86400x119 90000x240' },
  ],
  [
    'no process renews the certificate',
    { [of('a', 'eip_admission_cert_not_after_timestamp_seconds')]: always(7 * 3_600) },
    'EIPAdmissionCertificateEndsSoon',
  ],
  [
    'no process renews the authority',
    { [of('b', 'eip_admission_ca_not_after_timestamp_seconds')]: always(6 * 86_400) },
    'EIPAdmissionAuthorityEndsSoon',
  ],

  ['there is no control-plane address', without(/control_plane/)],
  ['no guardian leads', { [guardian('n1', 'leader')]: from(60, 1, always(0)) }, 'EIPAdmissionControlPlaneUnguarded'],
  [
    'all guardians no longer exist',
    Object.fromEntries(['n1', 'n2', 'n3'].map((node) => [guardian(node, 'leader'), end(60, node === 'n1' ? 1 : 0)])),
    'EIPAdmissionControlPlaneUnguarded',
  ],
  [
    'the holder is silent',
    { [guardian('n1', 'silent_seconds')]: from(60, 1, rising(30)) },
    'EIPAdmissionControlPlaneHolderSilent',
  ],
  ['the holder is silent for half a minute', { [guardian('n1', 'silent_seconds')]: '1x119 30 1x239' }],
  [
    'the holder is silent and there is no candidate',
    {
      [guardian('n1', 'silent_seconds')]: from(60, 1, rising(30)),
      [guardian('n1', 'problem')]: from(60, 0, always(1)),
    },
    'EIPAdmissionControlPlaneHolderSilent',
  ],
  [
    'the guardian needs a person',
    { [guardian('n1', 'problem')]: from(60, 0, always(1)) },
    'EIPAdmissionControlPlaneProblem',
  ],
  ['the guardian waits for a candidate', { [guardian('n1', 'problem')]: during(3, 0, 1) }],
  ['one of three API servers is bad', badNodes('n2')],
  ['two of three API servers are bad', badNodes('n2', 'n3'), 'EIPAdmissionControlPlaneNoCandidate'],
  ['the only API server is good', without(/probes_total\{.*node="n[23]"/)],
  ['the address moves four times', { [moves('ok')]: '2x119 2+1x4 6x235' }],
  ['the address moves to and fro', { [moves('ok')]: '2x119 2+1x20 22x219' }, 'EIPAdmissionControlPlaneMovesOften'],
  ['the origins of a load balancer change often', { [moves('ok', 'origins')]: '2x119 2+1x20 22x219' }],
  ['a move fails', { [moves('error')]: from(60, '_', always(1)) }, 'EIPAdmissionControlPlaneMovesFail'],
  [
    'the provider is not read for the holder',
    { [guardian('n1', 'cloud_read_age_seconds')]: from(60, 59, rising(30)) },
    'EIPAdmissionControlPlaneCloudReadOld',
  ],
  [
    'no guardian can read the provider, and they lead in turn',
    blindGuardians(),
    'EIPAdmissionControlPlaneCloudReadOld',
    'EIPAdmissionControlPlaneProblem',
  ],
  [
    'another guardian leads and reads the provider',
    {
      [guardian('n1', 'leader')]: from(60, 1, always(0)),
      [guardian('n1', 'cloud_read_age_seconds')]: from(60, 59, rising(30)),
      [guardian('n2', 'leader')]: from(62, 0, always(1)),
      [guardian('n2', 'cloud_read_age_seconds')]: '0+30x123 59x236',
    },
  ],

  ['a rolling update', rollingUpdate()],
  [
    'a rolling update on the host network',
    Object.fromEntries(
      ['a', 'b', 'n1:10268'].map((name) => [of(name, 'process_start_time_seconds'), '0x119 3600x240']),
    ),
  ],
  [
    'a replica no longer exists',
    { [of('b', 'eip_admission_build_info', info)]: end(60, 1), [of('b', 'eip_admission_leader')]: end(60, 0) },
  ],
]

/** The alerts after two hours. */
const longCases: Case[] = [
  ['an orphan is released within its grace period', { [orphans]: during(40, 0, 1) }],
  ['an orphan stays', { [orphans]: from(30, 0, always(1)) }, 'EIPAdmissionReservationsUnneeded'],
]

const cases = [...shortCases, ...longCases]

const tests: AlertTest[] = cases.map(([name, change, ...fired]) => ({
  name,
  series: { ...healthy, ...change },
  until: longCases.some(([long]) => long === name) ? '3h' : until,
  fired,
}))

test('promtool finds no mistake in the rules', async () => {
  const { status, stdout, stderr } = spawnSync(
    await promtoolProgram(),
    ['check', 'rules', '--lint=all', '--lint-fatal', rulesFile],
    { encoding: 'utf8' },
  )
  assert.is(status, 0, stderr)
  assert.match(stdout, `${alertGroups.flatMap(({ alerts }) => alerts).length} rules found`)
})

test('each alert has a case in which it alone fires', () => {
  const alone = new Set(cases.flatMap(([, , ...fired]) => (fired.length === 1 ? fired : [])))
  for (const { name } of alertGroups.flatMap(({ alerts }) => alerts)) assert.ok(alone.has(name), name)
})

test('each case fires its alerts and no other', async () => {
  const { code, output } = await testAlerts(tests)
  assert.is(code, 0, output)
})

test('a case with the wrong alerts is noticed', async () => {
  const [first] = tests
  assert.ok(first)
  const { code, output } = await testAlerts([{ ...first, fired: ['EIPAdmissionDown'] }])
  assert.is(code, 1)
  assert.match(output, 'EIPAdmissionDown')
})

test.run()
