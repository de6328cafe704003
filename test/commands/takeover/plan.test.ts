// The steps of a takeover, from facts alone.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Reservation } from '../../../clouds/ports/cloud.ts'
import type { KubeObject, Lease, Node, Service } from '../../../kube/objects.ts'
import type { Pod, Workload } from '../../../kube/workloads.ts'
import { serviceMarks } from '../../../ledger/record/marks.ts'
import type { Fact } from '../../../inspect/fact.ts'
import { type TakeoverFacts, unreadFindings } from '../../../commands/takeover/plan/facts.ts'
import { findPredecessors } from '../../../inspect/find-predecessors.ts'
import { makePlan } from '../../../commands/takeover/plan/make-plan.ts'
import type { TakeoverPlan } from '../../../commands/takeover/plan/plan.ts'
import type { Progress } from '../../../commands/takeover/progress.ts'
import { predecessors } from '../../../inspect/predecessors.ts'
import { formatPlan } from '../../../commands/takeover/report/plan-report.ts'
import { translate } from '../../../commands/takeover/plan/translate.ts'
import { objectsOf } from '../../announcers/predecessors.ts'
import { makeRecord, makeReservation, makeService } from '../../builders.ts'
import { makeContext, now } from '../doctor/context.ts'
import { remedyText } from '../../../lib/remedy.ts'

type Values = { [Name in keyof TakeoverFacts]: Extract<TakeoverFacts[Name], { value: unknown }>['value'] }

type Scene = Partial<Values> & {
  unread?: Partial<Record<keyof TakeoverFacts, string>>
  flags?: Record<string, string>
  env?: Record<string, string>
  pods?: Pod[]
  givenFlags?: Record<string, string>
}

const image = 'equinix/cloud-provider-equinix-metal:v3.8.1'

function program(facts: Partial<Workload['metadata']> & { image?: string; kind?: string; replicas?: number } = {}) {
  const { image: own = image, kind = 'Deployment', replicas = 1, ...metadata } = facts
  const isDaemonSet = kind === 'DaemonSet'
  const object: Workload = {
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace: 'kube-system', name: 'ccm', uid: 'u', ...metadata },
    spec: {
      ...(!isDaemonSet && { replicas }),
      selector: { matchLabels: { app: 'ccm' } },
      template: { spec: { containers: [{ image: own }], nodeSelector: { role: 'control-plane' } } },
    },
    ...(isDaemonSet && { status: { desiredNumberScheduled: replicas } }),
  }
  return object
}

const metallb = program({
  name: 'controller',
  namespace: 'metallb-system',
  image: 'quay.io/metallb/controller:v0.16.1',
})
metallb.status = { readyReplicas: 1 }

/** The plan for facts in which these differ: a healthy cluster that a predecessor runs, with two Services. */
function planOf(scene: Scene = {}): TakeoverPlan {
  const { unread = {}, flags = {}, env = {}, pods = [], givenFlags = {}, ...values } = scene
  const context = makeContext({ flags, env: { METAL_LOAD_BALANCER: 'empty://', ...env } })
  const workloads = values.workloads ?? [program()]
  const all: Values = {
    server: { version: 'v1.36.0', major: 1, minor: 36, clockAheadMs: 0 },
    cluster: { id: 'c', uid: 'c', ledger: undefined },
    services: [web, api],
    records: [],
    nodes: [],
    workloads,
    definitions: [],
    metallb: [],
    sessions: [],
    cloudReads: [],
    cloudPace: { calls: 1, limited: 0 },
    reservations: [reserved('default/web', '203.0.113.1'), reserved('default/api', '203.0.113.2')],
    machines: [],
    peers: new Map(),
    seenSessions: new Map(),
    controlPlane: [],
    leases: [],
    document: undefined,
    bgpSecret: undefined,
    progress: undefined,
    isAdministrator: true,
    lock: undefined,
    ...values,
  }
  const facts = Object.fromEntries(
    Object.entries(all).map(([name, value]): [string, Fact<unknown>] => {
      const problem = new Map(Object.entries(unread)).get(name)
      return [name, problem === undefined ? { value } : { unread: problem }]
    }),
  ) as TakeoverFacts
  const found = findPredecessors(workloads, pods)
  const predecessor = found.workloads[0]?.predecessor ?? predecessors[1]
  assert.ok(predecessor)
  const given = { flags: givenFlags, secretFlags: [], env: [], file: undefined, unread: [] }
  return makePlan({
    found,
    predecessor,
    given,
    translation: translate(predecessor, given),
    flags,
    facts,
    context,
  })
}

const scheme = { usage: 'cloud-provider-equinix-metal-auto', separator: '/', cluster: 'c' } as const

function reserved(key: string, address: string, more: Partial<Reservation> = {}): Reservation {
  return makeReservation({ id: `res-${address.split('.')[3]}`, address, marks: serviceMarks(scheme, key), ...more })
}

const show = (ip: string) => ({ loadBalancer: { ingress: [{ ip }] } })

function served(name: string, address: string, more: Parameters<typeof makeService>[0] = {}): Service {
  return makeService({ name, uid: name, loadBalancerIP: address, status: show(address), ...more })
}

const web = served('web', '203.0.113.1')
const api = served('api', '203.0.113.2')
const reasons = (plan: TakeoverPlan, of: 'blockers' | 'warnings' = 'blockers') => plan[of].map(({ reason }) => reason)
const heldOf = ({ services }: TakeoverPlan, name: string) => {
  const { before, after, held } = services.find((one) => one.name === name) ?? {}
  return [before, after, held]
}

test('a healthy cluster: every address stays, nothing blocks it, and nothing is bought', () => {
  const plan = planOf()
  assert.equal([reasons(plan), reasons(plan, 'warnings')], [[], []])
  assert.ok(plan.services.every(({ before, after }) => before !== undefined && before === after))
  assert.match(formatPlan(plan, 'text'), 'nothing is reserved and nothing is deleted in the project')
  assert.equal(plan.settings.flags, {})
})

test('a Service that waits for an address is a warning, and nothing is reserved for it now', () => {
  const waiting = makeService({ name: 'waiting', uid: 'waiting' })
  const plan = planOf({ services: [web, api, waiting], flags: { '--metro': 'da' } })
  assert.equal(reasons(plan, 'warnings'), ['service-pending'])
  assert.match(formatPlan(plan, 'text'), /default\/waiting +- +\S+ +waits for an address/)
})

const own = makeReservation({ id: 'own', address: '203.0.113.9' })
const record = makeRecord({ phase: 'Bound', address: '203.0.113.1', reservationID: 'res-1' })

const holdings: { name: string; scene: Scene; service: string; is: unknown[]; blockers?: string[] }[] = [
  {
    name: 'a user-chosen address of the project',
    scene: { services: [served('own', '203.0.113.9')], reservations: [own] },
    service: 'own',
    is: ['203.0.113.9', '203.0.113.9', 'own'],
  },
  {
    name: 'a user-chosen address in a network of the project',
    scene: {
      services: [served('own', '203.0.113.9')],
      reservations: [{ ...own, address: '203.0.113.8', prefixLength: 29 }],
    },
    service: 'own',
    is: ['203.0.113.9', '203.0.113.9', 'own'],
  },
  {
    name: 'a user-chosen address of the ranges',
    scene: { services: [served('own', '198.51.100.9')], flags: { '--own-address-ranges': '198.51.100.0/24' } },
    service: 'own',
    is: ['198.51.100.9', '198.51.100.9', 'own'],
  },
  {
    name: 'a record of ours',
    scene: { records: [record] },
    service: 'web',
    is: ['203.0.113.1', '203.0.113.1', 'record'],
  },
  {
    name: 'an address that only the status shows',
    scene: {
      services: [makeService({ status: show('203.0.113.1') })],
      reservations: [reserved('default/web', '203.0.113.1')],
    },
    service: 'web',
    is: ['203.0.113.1', '203.0.113.1', 'reserved'],
  },
  {
    name: 'an address in a spelling of its own',
    scene: {
      services: [served('web', '2001:DB8::0:1', { ipFamilies: ['IPv6'] })],
      reservations: [reserved('default/web', '2001:db8::1')],
    },
    service: 'web',
    is: ['2001:db8::1', '2001:db8::1', 'reserved'],
  },
  {
    name: 'no address yet',
    scene: { services: [makeService()], reservations: [] },
    service: 'web',
    is: [undefined, undefined, 'pending'],
  },
  {
    name: 'a reservation that the predecessor did not write on its Service yet',
    scene: { services: [makeService()] },
    service: 'web',
    is: [undefined, '203.0.113.1', 'reserved'],
  },
  {
    name: "another program's Service",
    scene: { services: [served('web', '192.0.2.1', { loadBalancerClass: 'x/y' })], reservations: [] },
    service: 'web',
    is: ['192.0.2.1', '192.0.2.1', 'ignored'],
  },
  {
    name: 'the control-plane address',
    scene: {
      services: [
        served('cloud-provider-equinix-metal-kubernetes-external', '203.0.113.7', { namespace: 'kube-system' }),
      ],
      controlPlane: [{ id: 'cp', address: '203.0.113.7', machines: ['m'], tags: [], marks: {} }],
    },
    service: 'cloud-provider-equinix-metal-kubernetes-external',
    is: ['203.0.113.7', '203.0.113.7', 'control-plane'],
  },
  {
    name: 'a reservation that no longer exists, with the address in the spec',
    scene: { services: [web], reservations: [] },
    service: 'web',
    is: ['203.0.113.1', '203.0.113.1', 'own'],
    blockers: ['reservation-missing'],
  },
  {
    name: 'a reservation that no longer exists, with the address in the status alone',
    scene: { services: [makeService({ status: show('203.0.113.1') })], reservations: [] },
    service: 'web',
    is: ['203.0.113.1', undefined, 'pending'],
    blockers: ['reservation-missing'],
  },
  {
    name: 'a reservation with another address',
    scene: { services: [makeService({ status: show('203.0.113.77') })] },
    service: 'web',
    is: ['203.0.113.77', '203.0.113.1', 'reserved'],
    blockers: ['address-differs'],
  },
  {
    name: 'a reservation that names another cluster',
    scene: {
      services: [web],
      reservations: [
        reserved('default/web', '203.0.113.1', { marks: serviceMarks({ ...scheme, cluster: 'old' }, 'default/web') }),
      ],
    },
    service: 'web',
    is: ['203.0.113.1', '203.0.113.1', 'own'],
    blockers: ['other-cluster'],
  },
  {
    name: 'a Service that is being deleted',
    scene: { services: [served('web', '203.0.113.1', { deletionTimestamp: '2026-02-01T11:00:00Z' })] },
    service: 'web',
    is: ['203.0.113.1', '203.0.113.1', 'own'],
    blockers: ['service-being-deleted'],
  },
]

for (const { name, scene, service, is, blockers = [] } of holdings)
  test(`a Service with ${name}`, () => {
    const plan = planOf(scene)
    assert.equal(heldOf(plan, service), is)
    assert.equal(reasons(plan), blockers)
  })

test('two Services with one address: refused in two namespaces, allowed in one', () => {
  const of = (namespace: string, status?: Service['status']) => {
    const second = served('b', own.address ?? '', { namespace })
    const ports = [{ port: 443 }]
    return planOf({
      services: [
        served('a', own.address ?? ''),
        { ...second, spec: { ...second.spec, ports }, status: status ?? show(own.address ?? '') },
      ],
      reservations: [own],
    })
  }
  assert.ok(reasons(of('shop')).includes('doubled-addresses'))
  assert.equal(reasons(of('shop', {})), ['own-address'], 'one that only requests the address')
  assert.equal(reasons(of('default')), [])
})

test('a Service that requests the reserved address of another namespace is refused', () => {
  const { spec, ...second } = served('b', '203.0.113.1', { namespace: 'shop' })
  const services = [web, api, { ...second, spec: { ...spec, ports: [{ port: 443 }] }, status: {} }]
  assert.equal(reasons(planOf({ services })), ['own-address'])
})

test('whose the other reservations are, and that none of them is touched', () => {
  const marks = (cluster: string, key: string) => serviceMarks({ ...scheme, cluster }, key)
  const plan = planOf({
    reservations: [
      reserved('default/web', '203.0.113.1'),
      reserved('default/api', '203.0.113.2'),
      makeReservation({ id: 'orphan', address: '203.0.113.3', marks: marks('c', 'default/gone') }),
      makeReservation({ id: 'second', address: '203.0.113.4', marks: marks('c', 'default/web') }),
      makeReservation({ id: 'theirs', address: '203.0.113.5', marks: marks('other', 'default/web') }),
      makeReservation({ id: 'nobody', address: '203.0.113.6' }),
    ],
  })
  assert.equal(
    plan.reservations.map(({ id, whose, action }) => `${id} ${whose} ${action}`),
    [
      'res-1 service adopt',
      'res-2 service adopt',
      'orphan orphan keep',
      'second surplus keep',
      'theirs other-cluster keep',
    ],
  )
  assert.equal(reasons(plan), [])
  assert.equal(reasons(plan, 'warnings').toSorted(), ['leaked-reservations', 'leaked-reservations'])
  assert.is(plan.settings.flags['--sweep'], 'report')
  assert.match(plan.settings.values, 'sweep: report')
})

test('nobody is told to delete an address that a Service shows', () => {
  const { warnings, blockers } = planOf({ env: { METAL_LOAD_BALANCER: 'none' } })
  assert.match(
    blockers[0]?.what ?? '',
    /2 Services show addresses that the predecessor reserved: 203\.0\.113\.1, 203\.0\.113\.2/,
  )
  for (const { what, remedy } of warnings) {
    assert.match(what, 'which shows its address')
    assert.match(remedyText(remedy), 'do not delete it')
  }
})

test('two Services with one address and port keep it, and the plan says what happens then', () => {
  const both = ['a', 'b'].map((name) => {
    const one = served(name, own.address ?? '')
    return { ...one, spec: { ...one.spec, ports: [{ port: 80 }] } }
  })
  const plan = planOf({ services: both, reservations: [own] })
  assert.equal(reasons(plan), [])
  const found = plan.warnings.find(({ reason }) => reason === 'shared-port')
  assert.match(found?.what ?? '', 'is used by Service default/a on port 80/TCP too')
  assert.match(remedyText(found?.remedy ?? ''), 'the address stays')
})

test('what could not be read is a lack of rights only where the API server denies it', () => {
  const remedyOf = (fact: object) =>
    remedyText(unreadFindings({ services: { unread: 'no', ...fact } } as unknown as TakeoverFacts)[0]?.remedy ?? '')
  assert.match(remedyOf({ isForbidden: true }), 'with the rights to read it')
  assert.is(remedyOf({}), 'run takeover plan again when that is over')
})

test('the remedy of a limit is one that leaves room', () => {
  const [blocker] = planOf({ flags: { '--max-addresses': '1' } }).blockers
  const [, max] = /--max-addresses=(\d+)/.exec(remedyText(blocker?.remedy ?? '')) ?? []
  assert.ok(Number(max) > 2, max)
})

test('a person who gave a sweep mode keeps it', () => {
  const orphan = makeReservation({ id: 'o', marks: serviceMarks(scheme, 'default/gone') })
  const plan = planOf({ reservations: [orphan], services: [], flags: { '--sweep': 'release' } })
  assert.is(plan.settings.flags['--sweep'], 'release')
})

const lease = (holderIdentity: string, name = 'cloud-controller-manager'): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'kube-system', name },
  spec: { holderIdentity, renewTime: now.toISOString(), leaseDurationSeconds: 15 },
})
const ours = 'eip-admission-0_0123456789ab'
const kube = { kind: 'Deployment', namespace: 'kube-system', image, version: undefined } as const
const step = { title: 'Let eip-admission lead', number: 4, of: 6 }
const progress: Progress = {
  state: 'applying',
  step,
  found: {
    predecessor: 'equinix-metal',
    workloads: [
      { ...kube, name: 'ccm', isRunning: true },
      { ...kube, name: 'older', isRunning: false },
    ],
    services: {},
    lease: {} as never,
    ourLease: { namespace: 'kube-system', name: 'cloud-controller-manager' },
  },
}
const pod = (ownerReferences?: KubeObject['metadata']['ownerReferences']): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'kube-system', name: 'p', ...(ownerReferences && { ownerReferences }) },
  spec: { containers: [{ image }] },
})
const owner = (kind: string) => [{ apiVersion: 'v1', kind, name: 'node-a', uid: 'u' }]
const metallbSettings = { METAL_LOAD_BALANCER: 'metallb:///?crdConfiguration=true' }

const inTheWay: { name: string; scene: Scene; blockers?: string[]; warnings?: string[] }[] = [
  { name: 'limits below what is held', scene: { flags: { '--max-addresses': '1' } }, blockers: ['limit'] },
  { name: 'limits of a namespace', scene: { flags: { '--max-addresses-per-namespace': '1' } }, blockers: ['limit'] },
  { name: 'limits that just fit', scene: { flags: { '--max-addresses': '2' } } },
  {
    name: 'a version that we do not know',
    scene: { workloads: [program({ image: 'packethost/packet-ccm:v3.0.0' })] },
    blockers: ['unknown-version'],
  },
  {
    name: 'load balancing off, while Services show addresses that the predecessor reserved',
    scene: { env: { METAL_LOAD_BALANCER: 'none' } },
    blockers: ['load-balancing-off'],
    warnings: ['leaked-reservations', 'leaked-reservations'],
  },
  {
    name: 'load balancing off, and no Service has an address',
    scene: { env: { METAL_LOAD_BALANCER: 'none' }, services: [], reservations: [] },
  },
  {
    name: 'a tag without a version',
    scene: { workloads: [program({ image: image.replace('v3.8.1', 'main') })] },
    warnings: ['unnamed-version'],
  },
  {
    name: 'a second predecessor',
    scene: { workloads: [program(), program({ name: 'x', image: 'cloud-provider-cherry:v1.35.2' })] },
    blockers: ['several-predecessors'],
  },
  {
    name: 'a second one that is stopped',
    scene: { workloads: [program(), program({ name: 'x', image: 'cloud-provider-cherry:v1.35.2', replicas: 0 })] },
  },
  {
    name: 'two workloads of one predecessor',
    scene: { workloads: [program(), program({ name: 'x', kind: 'DaemonSet' })] },
  },
  { name: 'a static pod', scene: { pods: [pod(owner('Node'))] }, blockers: ['predecessor-pod'] },
  { name: 'a pod of nobody', scene: { pods: [pod()] }, blockers: ['predecessor-pod'] },
  { name: 'pods of its workloads', scene: { pods: [pod(owner('ReplicaSet')), pod(owner('DaemonSet'))] } },
  {
    name: 'an owner',
    scene: { workloads: [program({ ownerReferences: owner('Addon') })] },
    blockers: ['managed-workload'],
  },
  {
    name: 'Flux',
    scene: { workloads: [program({ labels: { 'kustomize.toolkit.fluxcd.io/name': 'x' } })] },
    blockers: ['managed-workload'],
  },
  {
    name: 'Argo CD',
    scene: { workloads: [program({ annotations: { 'argocd.argoproj.io/tracking-id': 'x' } })] },
    blockers: ['managed-workload'],
  },
  {
    name: 'k3s',
    scene: { workloads: [program({ annotations: { 'objectset.rio.cattle.io/id': 'x' } })] },
    blockers: ['managed-workload'],
  },
  {
    name: 'a manager that is suspended',
    scene: {
      workloads: [
        program({
          annotations: { 'argocd.argoproj.io/tracking-id': 'x', 'eip-admission.dev/manager-suspended': 'true' },
        }),
      ],
    },
  },
  {
    name: 'a manager that is not suspended any more',
    scene: {
      workloads: [
        program({
          annotations: { 'argocd.argoproj.io/tracking-id': 'x', 'eip-admission.dev/manager-suspended': 'false' },
        }),
      ],
    },
    blockers: ['managed-workload'],
  },
  {
    name: 'Helm',
    scene: { workloads: [program({ annotations: { 'meta.helm.sh/release-name': 'ccm' } })] },
    warnings: ['helm-release'],
  },
  {
    name: 'a predecessor that is stopped',
    scene: { workloads: [program({ replicas: 0 })] },
    warnings: ['not-running'],
  },
  {
    name: 'a predecessor that no workload shows, while somebody renews its lease',
    scene: { workloads: [], leases: [lease('node-a_5c1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711')] },
    blockers: ['runs-unseen'],
  },
  {
    name: 'a predecessor that no workload shows, and whose lease nobody renews',
    scene: { workloads: [] },
    warnings: ['not-running'],
  },
  {
    name: 'our own workload',
    scene: {
      workloads: [program(), program({ name: 'eip-admission', image: 'ghcr.io/eip-admission/eip-admission:1.0.0' })],
    },
    blockers: ['already-running'],
  },
  {
    name: 'our own workload, stopped',
    scene: {
      workloads: [
        program(),
        program({ name: 'eip-admission', image: 'ghcr.io/eip-admission/eip-admission:1.0.0', replicas: 0 }),
      ],
    },
  },
  {
    name: 'our guardians, as the chart without replicas installs them',
    scene: {
      workloads: [
        program(),
        program({ kind: 'DaemonSet', image: 'ghcr.io/eip-admission/eip-admission:1.0.0', replicas: 0 }),
      ],
    },
  },
  { name: 'our own leader', scene: { leases: [lease(ours)] }, blockers: ['already-running'] },
  {
    name: 'our own leader, in a takeover that was started',
    scene: { leases: [lease(ours)], progress },
  },
  {
    name: 'a version that was installed since the takeover began',
    scene: { workloads: [program(), program({ name: 'newer' })], progress },
    blockers: ['late-predecessor'],
  },
  {
    name: 'a version that was started since the takeover began',
    scene: { workloads: [program(), program({ name: 'older' })], progress },
    blockers: ['late-predecessor'],
  },
  { name: "the predecessor's leader", scene: { leases: [lease('node-a_6f8d2a3e-0000-4000-8000-000000000000')] } },
  {
    name: 'another lease',
    scene: { givenFlags: { '--leader-elect-resource-name': 'ccm' } },
    warnings: ['other-lease'],
  },
  {
    name: 'a token without rights',
    scene: { cloudReads: [{ what: 'the reservations', problem: 'no', fault: 'auth' }] },
    blockers: ['cloud-access'],
  },
  {
    name: 'an API server that is old',
    scene: { server: { version: 'v1.27.0', major: 1, minor: 27, clockAheadMs: 0 } },
    warnings: ['api-server-version'],
  },
  {
    name: 'an announcer that nothing shows: the predecessor runs with the same',
    scene: { env: metallbSettings },
    warnings: ['metallb-programs'],
  },
  { name: 'an announcer that is there', scene: { env: metallbSettings, workloads: [program(), metallb] } },
  {
    name: 'a person who is not an administrator',
    scene: { isAdministrator: false },
    blockers: ['rights'],
  },
  {
    name: 'a fact that could not be read',
    scene: { unread: { services: 'you may not list services' } },
    blockers: ['unread'],
  },
  {
    name: 'the trap of int32',
    scene: {
      env: metallbSettings,
      workloads: [program(), metallb],
      definitions: [
        {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: { name: 'bgppeers.metallb.io' },
          spec: {
            versions: [
              {
                name: 'v1beta2',
                schema: {
                  openAPIV3Schema: {
                    properties: { spec: { properties: { peerASN: { format: 'int32', maximum: 4_294_967_295 } } } },
                  },
                },
              },
            ],
          },
        },
      ],
    },
    blockers: ['metallb-definitions'],
  },
]

for (const { name, scene, blockers = [], warnings = [] } of inTheWay)
  test(`blocks, or does not: ${name}`, () => {
    const plan = planOf(scene)
    assert.equal([reasons(plan), reasons(plan, 'warnings')], [blockers, warnings])
    assert.ok([...plan.blockers, ...plan.warnings].every(({ what, where, remedy }) => what && where && remedy))
  })

const machineOf = (n: number) => `3b241101-e2bb-4255-8caf-4136c566a${String(n).padStart(3, '0')}`
const peer = (n: number, router: string) => ({
  localAsn: 65_000,
  peerAsn: 65_530,
  peerAddress: router,
  sourceAddress: `10.0.0.${n}`,
  isMultihop: true,
  password: undefined,
})
const routers = ['169.254.255.1', '169.254.255.2']
const node = (n: number, annotations: Record<string, string> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `node-${n}`, labels: { 'kubernetes.io/hostname': `node-${n}` }, annotations },
  spec: { providerID: `equinixmetal://${machineOf(n)}` },
})
const networkOf = (numbers: number[]) => ({
  nodes: numbers.map((n) => node(n)),
  machines: numbers.map((n) => ({
    id: machineOf(n),
    name: `node-${n}`,
    state: 'on' as const,
    type: undefined,
    region: 'da',
    zone: undefined,
    addresses: [],
    privateNetwork: undefined,
  })),
  peers: new Map(numbers.map((n) => [machineOf(n), routers.map((router) => peer(n, router))])),
})
const network = networkOf([1, 2])
/** MetalLB's objects as CPEM leaves them for nodes of these numbers and two Services. */
const predecessorObjects = (numbers: number[]) =>
  objectsOf('CPEM 3.8', {
    nodes: numbers.map((n) => ({ name: `node-${n}`, address: `10.0.0.${n}` })),
    routers,
    localAsn: 65_000,
    peerAsn: 65_530,
    password: 'very-secret',
    services: [
      { name: 'web', address: '203.0.113.1' },
      { name: 'api', address: '203.0.113.2' },
    ],
  })

test('the plan for 200 nodes fits one screen, names exceptions, and says how long it takes', () => {
  const numbers = Array.from({ length: 200 }, (_, n) => n + 1)
  const all = networkOf(numbers)
  const nodes = all.nodes.map((one, n) =>
    n < 199 ? one : node(200, { 'metal.equinix.com/bgp-peers-0-bgp-pass': 'x' }),
  )
  const env = metallbSettings
  const plan = planOf({ ...all, nodes, metallb: predecessorObjects(numbers), workloads: [program(), metallb], env })
  const text = formatPlan(plan, 'text')
  assert.ok(text.split('\n').length <= 60, text)
  assert.match(text, '199, such as node-1 ')
  assert.match(text, /^ {2}node-200 /m)
  assert.match(text, '2 are in the list of Services above')
  assert.match(text, /about \d+ minutes?, with \d+ waves of BGP sessions/)
  assert.match(text, 'no leader for at most 5 seconds')
})

test('a node whose annotations are right does not change; a missing one is named, without its value', () => {
  const prefix = 'metal.equinix.com/bgp-peers'
  const right = Object.fromEntries(
    routers.flatMap((router, n) => [
      [`${prefix}-${n}-node-asn`, '65000'],
      [`${prefix}-${n}-peer-asn`, '65530'],
      [`${prefix}-${n}-peer-ip`, router],
      [`${prefix}-${n}-src-ip`, '10.0.0.1'],
    ]),
  )
  const plan = planOf({ ...network, nodes: [node(1, right), node(2, { [`${prefix}-0-bgp-pass`]: 'c2VjcmV0' })] })
  const [first, second] = plan.nodes
  assert.equal(first, { name: 'node-1', annotations: [], removed: [] })
  assert.ok(second?.annotations.length)
  assert.equal(second?.removed, [`${prefix}-0-bgp-pass`], 'a password that kube-vip does not read is removed')
  assert.not(second?.annotations.includes(`${prefix}-0-bgp-pass`))
  assert.match(formatPlan(plan, 'text'), `removes ${prefix}-0-bgp-pass`)
  assert.not.match(JSON.stringify(plan), 'c2VjcmV0')
  assert.equal(
    reasons(planOf({ ...network, peers: new Map([[machineOf(1), []]]) }), 'warnings').includes('bgp-peers'),
    true,
  )
})

test('a node that the selector leaves out loses its annotations, as the peering controller removes them', () => {
  const name = 'metal.equinix.com/bgp-peers-0-node-asn'
  const { nodes } = planOf({
    ...network,
    nodes: [node(1, { [name]: '65000' })],
    env: { METAL_BGP_NODE_SELECTOR: 'bgp=yes' },
  })
  assert.equal(nodes, [{ name: 'node-1', annotations: [], removed: [name] }])
})

test("MetalLB's objects of a predecessor keep their names, and a password in them is not shown", () => {
  const objects = predecessorObjects([1, 2])
  const plan = planOf({ ...network, metallb: objects, workloads: [program(), metallb], env: metallbSettings })
  const { announcer } = plan
  assert.is(announcer.name, 'metallb')
  assert.not(announcer.objects.some(({ change }) => change === 'removed' || change === 'added'))
  const names = objects.map(({ metadata }) => metadata.name).toSorted()
  assert.equal(announcer.objects.map(({ name }) => name).toSorted(), names)
  const pools = announcer.objects.filter(({ kind }) => kind === 'IPAddressPool')
  assert.equal(
    pools.map(({ change, interruptsSession }) => [change, interruptsSession]),
    [
      ['adopted', false],
      ['adopted', false],
    ],
  )
  assert.not.match(JSON.stringify(plan), 'very-secret')
  assert.equal(reasons(plan), [])
})

test('a ConfigMap of MetalLB that is missing blocks the migration', () => {
  const old = program({ name: 'controller', namespace: 'metallb-system', image: 'metallb/controller:v0.11.0' })
  old.status = { readyReplicas: 1 }
  const env = { METAL_LOAD_BALANCER: 'metallb:///metallb-system/config' }
  assert.equal(reasons(planOf({ env, workloads: [program(), old] })), ['announcer-missing'])
})

const stopped = program({ replicas: 0 })
const adopted = ['web', 'api'].map((name, n) => {
  const claimRef = { namespace: 'default', name, uid: name }
  const made = makeRecord(
    { phase: 'Bound', address: `203.0.113.${n + 1}`, reservationID: `res-${n + 1}` },
    { claimRef },
  )
  return { ...made, metadata: { ...made.metadata, name: `default.${name}` } }
})
const applied: Progress = { ...progress, state: 'applied', step: { title: 'Verify', number: 6, of: 6 } }
const complete: Scene = { workloads: [stopped], records: adopted, leases: [lease(ours)], progress: applied }
const lockOf = (holderIdentity: string, silentMs: number): Lease => {
  const renewTime = new Date(now.getTime() - silentMs).toISOString()
  const spec = { holderIdentity, acquireTime: '2026-01-01T11:00:00.000000Z', renewTime }
  return { ...lease(holderIdentity), spec }
}

const begun: { name: string; scene: Scene; blockers?: string[]; says: RegExp[]; not?: RegExp[] }[] = [
  {
    name: 'complete',
    scene: complete,
    says: [
      /^Complete: eip-admission leads, .* is stopped/m,
      /^ {2}eip-admission takeover undo$/m,
      /^ {2}kubectl delete deployment -n kube-system ccm$/m,
      /^ {2}kubectl delete configmap -n eip-admission eip-admission-takeover$/m,
    ],
    not: [/was started/, /takeover apply/, /helm/, /Warnings/],
  },
  {
    name: 'complete, and installed by Helm',
    scene: {
      ...complete,
      workloads: [program({ replicas: 0, annotations: { 'meta.helm.sh/release-name': 'cpem' } })],
    },
    says: [/^ {2}helm uninstall -n kube-system cpem$/m],
    not: [/kubectl delete deployment/],
  },
  {
    name: 'complete until the predecessor was started again',
    scene: { ...complete, workloads: [program()] },
    says: [
      /the takeover was complete, but Deployment kube-system\/ccm runs again/,
      /^ {2}eip-admission takeover apply$/m,
    ],
    not: [/^Complete/m],
  },
  {
    name: 'complete until nobody of ours led',
    scene: { ...complete, leases: [] },
    says: [
      /no eip-admission holds the lease kube-system\/cloud-controller-manager/,
      /^ {2}eip-admission takeover apply$/m,
    ],
  },
  {
    name: 'stopped in apply',
    scene: { ...complete, progress },
    says: [
      /`takeover apply` stopped at step 4 of 6: Let eip-admission lead/,
      /To continue:\n\n {2}eip-admission takeover apply\n\nTo go back instead:\n\n {2}eip-admission takeover undo\n$/,
    ],
  },
  {
    name: 'stopped in undo',
    scene: { ...complete, progress: { ...progress, state: 'undoing' } },
    says: [/`takeover undo` stopped at step 4 of 6/, /To continue:\n\n {2}eip-admission takeover undo\n/],
  },
  {
    name: 'stopped in apply, and blocked since',
    scene: { ...complete, progress, isAdministrator: false },
    blockers: ['rights'],
    says: [
      /`takeover apply` stopped at step 4 of 6: Let eip-admission lead. Blocked: 1 thing blocks the migration/,
      /To go back instead:\n\n {2}eip-admission takeover undo\n$/,
    ],
    not: [/To continue/],
  },
  {
    name: 'stopped in undo, which blockers of apply do not concern',
    scene: { ...complete, progress: { ...progress, state: 'undoing' }, flags: { '--max-addresses': '1' } },
    blockers: ['limit'],
    says: [/To continue:\n\n {2}eip-admission takeover undo\n/],
  },
  {
    name: 'at work',
    scene: { ...complete, progress, lock: lockOf('anna@laptop_takeover-apply_0123-4', 2_000) },
    says: [/^Wait: `takeover apply` of anna@laptop has been running since 2026-01-01T11:00:00Z/m],
    not: [/To continue/],
  },
  {
    name: 'killed a while ago',
    scene: { ...complete, progress, lock: lockOf('anna@laptop_takeover-apply_0123-4', 40_000) },
    says: [/stopped at step 4 of 6/],
    not: [/anna/],
  },
]

for (const { name, scene, blockers = [], says, not = [] } of begun)
  test(`a takeover that is ${name}`, () => {
    const plan = planOf(scene)
    assert.equal(reasons(plan), blockers)
    const text = formatPlan(plan, 'text')
    for (const pattern of says) assert.match(text, pattern)
    for (const pattern of not) assert.not.match(text, pattern)
  })

test('the text is aligned, hides nothing that a user wrote as a line of ours, and ends with the next command', () => {
  const plan = planOf({
    services: [served('web', '203.0.113.1'), { ...api, metadata: { ...api.metadata, name: 'a\u001b[2Jb\nReady.' } }],
  })
  const text = formatPlan(plan, 'text')
  assert.not.match(text.replaceAll('\n', ''), /\p{C}/u)
  assert.not.match(text, /^Ready\.$/m)
  const ready = formatPlan(planOf(), 'text')
  assert.match(ready, /SERVICE +BEFORE +AFTER +HOW +RESERVATION\n/)
  assert.match(ready, / {2}eip-admission takeover apply\n$/)
})

test('a warning says rightly where in the text the list of Services is', () => {
  const plan = planOf({ workloads: [program({ image: image.replace('v3.8.1', 'main') })] })
  const text = formatPlan(plan, 'text')
  const [services, warning] = [/^Services \(/m, /list of Services above/].map((pattern) => text.search(pattern))
  assert.ok(services !== undefined && warning !== undefined && services > 0 && warning > services, text)
})

test('a plan is plain data: it is the same after it was written and read', () => {
  const plan = planOf({ ...network, workloads: [program({ kind: 'DaemonSet' })] })
  const read = JSON.parse(formatPlan(plan, 'json')) as TakeoverPlan
  assert.is(formatPlan(read, 'text'), formatPlan(plan, 'text'))
})

test.run()
