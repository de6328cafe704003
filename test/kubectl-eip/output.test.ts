import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Lease } from '../../kube/objects.ts'
import type { Container, Workload } from '../../kube/workloads.ts'
import { readGivenSettings } from '../../inspect/given-settings.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import { formatRecords, isOfNamespace } from '../../kubectl-eip/list.ts'
import { type StatusSeen, formatStatus } from '../../kubectl-eip/status.ts'
import { formatAge, formatTable } from '../../kubectl-eip/io.ts'
import { timelineOf, formatWhy } from '../../kubectl-eip/why.ts'
import { makeLot, makeRecord, makeService } from '../builders.ts'
import { address, makeEvent, shows } from './builders.ts'

const now = new Date('2026-01-31T09:05:00Z')

test('columns are as wide as their widest cell, and no cell breaks a line', () => {
  assert.is(
    formatTable(
      ['A', 'B'],
      [
        ['x\u001b[1m\ny', 'ß'],
        ['', 'long'],
      ],
    ),
    'A        B\nx [1m y  ß\n         long\n',
  )
})

for (const [seconds, text] of [
  [0, '0s'],
  [119, '119s'],
  [180, '3m'],
  [190, '3m10s'],
  [3_600, '60m'],
  [14_000, '3h53m'],
  [90_000, '25h'],
  [1_000_000, '11d'],
] as const)
  test(`${seconds} seconds are ${text}`, () => {
    assert.is(formatAge(new Date(now.getTime() - seconds * 1000).toISOString(), now), text)
  })

test('a namespace sees its own addresses and those that it may claim', () => {
  const of = (facts: Partial<ElasticIP['spec']>) =>
    isOfNamespace(makeLot('office', { reclaimPolicy: 'Retain', ...facts }), 'shop')
  assert.ok(of({}))
  assert.ok(of({ allowedNamespaces: ['shop'] }))
  assert.not(of({ allowedNamespaces: ['other'] }))
  assert.ok(of({ claimRef: { namespace: 'shop', name: 'till' } }))
  assert.not(of({ claimRef: { namespace: 'other', name: 'till' } }))
  assert.not(isOfNamespace(makeRecord(), 'shop'))
})

test('a wide list has the reservation, the request and the message', () => {
  const record = makeRecord({ phase: 'Requested', reservationID: 'res-1', message: 'not granted' })
  const [headings, row] = formatRecords([record], { isWide: true, now }).split('\n')
  assert.match(headings ?? '', /RESERVATION +REQUEST +MESSAGE$/)
  assert.match(row ?? '', /^default\.web +Requested +default\/web +da +Delete +5m +res-1 +not granted$/)
})

test('the timeline is in the order of time, anyone who saw it', () => {
  const history = [
    { time: '2026-01-31T09:00:01.500Z', phase: 'Reserved', message: 'reservation 7', writer: 'a', request: 'r' },
    { time: '2026-01-31T09:00:02.000Z', phase: 'Bound', writer: 'b' },
  ]
  const moments = timelineOf({
    service: makeService({ creationTimestamp: '2026-01-31T09:00:01Z' }),
    record: makeRecord({ history }),
    events: [
      makeEvent({
        lastTimestamp: '2026-01-31T09:00:03Z',
        count: 3,
        type: 'Warning',
        annotations: { 'eip-admission.dev/request-id': 'r' },
      }),
      { ...makeEvent({ lastTimestamp: '' }), eventTime: '2026-01-31T08:59:00.000001Z' } as ReturnType<typeof makeEvent>,
    ],
  })
  assert.equal(
    moments.map(({ what, request }) => [what, request]),
    [
      ['EnsuredLoadBalancer: Ensured load balancer', undefined],
      ['ElasticIP default.web created', undefined],
      ['Service created', undefined],
      ['Reserved: reservation 7', 'r'],
      ['Bound', undefined],
      ['Warning EnsuredLoadBalancer: Ensured load balancer (3 times)', 'r'],
    ],
  )
})

test('the text of why ends with what to do, and offers a command only for a harmless id', () => {
  const of = (request: string) =>
    formatWhy({
      key: 'default/web',
      service: makeService({ status: shows(address) }),
      record: {
        value: makeRecord({ phase: 'Bound', address, history: [{ time: '', phase: 'Bound', writer: 'a', request }] }),
      },
      events: { missing: 'list Events in namespace default' },
      installedIn: 'networking',
      seconds: [],
    })
  assert.match(of('1b2c3d4e-1'), 'kubectl logs -n networking -l')
  assert.match(of('1b2c3d4e-1'), '| grep 1b2c3d4e-1`\n')
  assert.match(of('1b2c3d4e-1'), 'Not everything is shown: you may not list Events in namespace default.')
  assert.match(of('1b2c3d4e-1'), /\nNo action needed\.\n$/)
  assert.not.match(of('x; rm -rf'), 'grep')
})

const ours = 'pod_0123456789ab'
const lease = (renewTime: string, { leaseDurationSeconds = 15, holderIdentity = ours } = {}): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'cloud-controller-manager' },
  spec: { holderIdentity, renewTime, leaseDurationSeconds },
})

const quiet: StatusSeen = {
  records: [],
  deployments: { value: [] },
  given: undefined,
  lease: { value: undefined },
  guardianLease: { value: undefined },
  mirrors: { value: [] },
  webhooks: { outcome: 'answered' },
  now,
}
/** A Deployment with these containers, as it is seen where the ConfigMaps have this data. */
async function installed(containers: Container[], configMaps: Record<string, Record<string, string>> = {}) {
  const object: Workload = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a', namespace: 'x' },
    spec: { template: { spec: { containers } } },
  }
  const container = containers.at(-1) ?? {}
  const readData = async ({ kind, name }: { kind: string; name: string }) => (kind === 'Secret' ? {} : configMaps[name])
  return { deployments: { value: [object] }, given: await readGivenSettings({ object, container }, readData) }
}

const statusRows: { name: string; seen: Partial<StatusSeen>; says: string | RegExp }[] = [
  { name: 'nothing at all', seen: {}, says: /addresses +0\n +phases +none\n +pending +none\n/ },
  {
    name: 'no leader',
    seen: await installed([{}]),
    says: /leader +no process has the lease kube-system\/cloud-controller-manager\n/,
  },
  {
    name: 'no leader of the lease that the Deployment names',
    seen: await installed([
      { args: ['--leader-elect-resource-name=ours', '--leader-elect-resource-namespace', 'networking'] },
    ]),
    says: /leader +no process has the lease networking\/ours\n/,
  },
  {
    name: 'a leader',
    seen: { ...(await installed([{}])), lease: { value: lease('2026-01-31T09:04:55Z') } },
    says: /leader +pod_0123456789ab, lease renewed 5s ago\n/,
  },
  {
    name: 'that another program leads',
    seen: {
      ...(await installed([{}])),
      lease: {
        value: lease('2026-01-31T09:04:55Z', { holderIdentity: 'ccm_0ddc2b0e-9a4b-4d7c-8b55-3b8f4f2e9d11' }),
      },
    },
    says: /leader +ccm_0ddc2b0e-[\w-]+ \(which is not eip-admission\), lease renewed 5s ago\n/,
  },
  {
    name: 'which lease it looked at where there is no Deployment',
    seen: { lease: { value: lease('2026-01-31T09:04:55Z') } },
    says: 'ago (looked at the default lease kube-system/cloud-controller-manager: no Deployment of eip-admission names another)',
  },
  {
    name: 'which lease it looked at where nobody may see the Deployment',
    seen: { deployments: { missing: 'list Deployments' } },
    says: 'cloud-controller-manager (looked at the default lease kube-system/cloud-controller-manager: you may not list Deployments)',
  },
  {
    name: 'a dead leader',
    seen: { lease: { value: lease('2026-01-31T09:00:00Z') } },
    says: 'no process: pod_0123456789ab renewed the lease 5m ago',
  },
  {
    name: 'a guardian of a cluster whose clock is some seconds behind',
    seen: { guardianLease: { value: lease('2026-01-31T09:04:55Z', { leaseDurationSeconds: 3 }) } },
    says: /guardian +pod_0123456789ab, lease renewed 5s ago\n/,
  },
  {
    name: 'a lease that may not be read',
    seen: { lease: { missing: 'get Leases in kube-system' } },
    says: /leader +unknown: you may not get Leases in kube-system\n/,
  },
  {
    name: 'webhooks that are not called',
    seen: { webhooks: { outcome: 'missed', reason: 'gone' } },
    says: 'NOT CALLED: gone; run `eip-admission doctor` with the settings and the namespace of serve, which says',
  },
  {
    name: 'the oldest pending address',
    seen: { records: [makeRecord({ phase: 'Requested', message: 'quota' })] },
    says: '1, the oldest for 5m: default/web: quota',
  },
  {
    name: 'the release that lasts longest',
    seen: {
      records: [
        makeRecord({
          phase: 'Releasing',
          address: '203.0.113.7',
          deletionRequestedAt: '2026-01-31T08:57:00Z',
          message: 'the provider refuses it',
        }),
      ],
    },
    says: /releases +1, the oldest for 8m: default\/web \(203.0.113.7\): the provider refuses it/,
  },
  {
    name: 'kept addresses',
    seen: { records: [makeRecord({ phase: 'Released' })] },
    says: '1, 1 of them kept for Services that no longer exist',
  },
  { name: 'limits by default', seen: await installed([{}]), says: '100 in the cluster, 20 in a namespace' },
  {
    name: 'limits of flags and of the environment',
    seen: await installed([
      { args: ['--max-addresses=7'], env: [{ name: 'EIP_MAX_ADDRESSES_PER_NAMESPACE', value: 'none' }] },
    ]),
    says: '7 in the cluster, none in a namespace',
  },
  {
    name: 'limits of ConfigMaps, of which the last one counts, beside another container',
    seen: await installed(
      [
        { name: 'proxy', args: ['--max-addresses', '1'] },
        {
          name: 'eip-admission',
          env: [{ name: 'EIP_MAX_ADDRESSES', valueFrom: { configMapKeyRef: { name: 'one', key: 'all' } } }],
          envFrom: [{ configMapRef: { name: 'one' } }, { prefix: 'EIP_', configMapRef: { name: 'two' } }],
        },
      ],
      {
        one: { all: '50', EIP_MAX_ADDRESSES_PER_NAMESPACE: '5' },
        two: { MAX_ADDRESSES_PER_NAMESPACE: '6' },
      },
    ),
    says: '50 in the cluster, 6 in a namespace',
  },
  {
    name: 'limits that a Secret or an unread ConfigMap may set',
    seen: await installed([
      {
        args: ['--max-addresses', '9'],
        envFrom: [{ configMapRef: { name: 'unread' } }, { secretRef: { name: 's' } }],
      },
    ]),
    says: '9 in the cluster, 20 (or what ConfigMap x/unread or Secret s says) in a namespace',
  },
  {
    name: 'a limit that a Secret sets',
    seen: await installed([
      {
        args: ['--max-addresses', '9'],
        env: [{ name: 'EIP_MAX_ADDRESSES_PER_NAMESPACE', valueFrom: { secretKeyRef: { name: 's', key: 'n' } } }],
        envFrom: [{ secretRef: { name: 'other' } }],
      },
    ]),
    says: '9 in the cluster, 20 (or what Secret s says) in a namespace',
  },
]

for (const { name, seen, says } of statusRows)
  test(`status shows ${name}`, () => assert.match(formatStatus({ ...quiet, ...seen }), says))

test.run()
