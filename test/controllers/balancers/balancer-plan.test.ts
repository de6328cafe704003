import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type BalancerPlan, planBalancer } from '../../../controllers/balancers/balancer-plan.ts'
import type { BalancerSeen } from '../../../controllers/balancers/balancer-state.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { makeService } from '../../builders.ts'
import { address, annotations, finalizers, makeBalancer, makePool, makeSeen, names, other, worker } from './builders.ts'
import { testRows } from '../../drawn-rows.ts'

const named = { [annotations.id]: 'loadbal-1', [annotations.location]: 'da' }
const ports = [{ port: 80, nodePort: 30_080 }]
const status = { loadBalancer: { ingress: [{ ip: address }] } }
const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const bare = { found: [], pools: [], origins: new Map() }
const fresh = makeService({ finalizers, ports })
const deleted = makeService({ finalizers, ports, annotations: named, status, deletionTimestamp: 'now' })
const nothing: Want = { kind: 'nothing', reason: 'its type is ClusterIP' }
const wrong: Want = { kind: 'wrong', problems: ['UDP'] }
const late = makeBalancer({
  id: 'loadbal-2',
  addresses: ['203.0.113.91'],
  ports: [{ id: 'p', number: 80, pools: ['pool-80', 'pool-x'] }],
})
const noChange = { removePorts: [], removePools: [], updatePools: [], addPorts: [] }

const cases: { name: string; seen: Partial<BalancerSeen>; plan: BalancerPlan }[] = [
  { name: 'a Service that is served needs nothing', seen: {}, plan: {} },
  {
    name: 'the finalizer comes before everything',
    seen: { ...bare, service: makeService({ ports }) },
    plan: { step: { do: 'add-finalizer' } },
  },
  {
    name: 'a Service without a balancer gets one',
    seen: { ...bare, service: fresh },
    plan: { step: { do: 'create', name: names.balancer, location: 'da' } },
  },
  {
    name: 'while a request is in flight, no other is sent',
    seen: { ...bare, service: fresh, isInFlight: true },
    plan: { againInMs: 5_000 },
  },
  {
    name: 'what a lost answer left is found by its name, and the note of the request ends',
    seen: {
      service: makeService({ finalizers, ports, annotations: { 'eip-admission.dev/balancer-request': 'r' } }),
      isInFlight: true,
    },
    plan: { step: { do: 'show-balancer', id: 'loadbal-1', location: 'da' } },
  },
  {
    name: 'a note that is left beside the id ends',
    seen: {
      service: makeService({
        finalizers,
        ports,
        annotations: { ...named, 'eip-admission.dev/balancer-request': 'r' },
        status,
      }),
    },
    plan: { step: { do: 'show-balancer', id: 'loadbal-1', location: 'da' } },
  },
  {
    name: 'an id of another balancer is replaced by that of its own',
    seen: {
      service: makeService({ finalizers, ports, annotations: { [annotations.id]: 'loadbal-9' }, status }),
      foreign: { id: 'loadbal-9', name: 'other', createdAt: undefined },
    },
    plan: { step: { do: 'show-balancer', id: 'loadbal-1', location: 'da' } },
  },
  {
    name: 'a Service that names the balancer of another gets none',
    seen: { ...bare, service: fresh, foreign: { id: 'loadbal-9', name: 'other', createdAt: undefined } },
    plan: {
      step: {
        do: 'report-problems',
        problems: [
          'annotation equinix.com/loadbalancerID: "loadbal-9" names a load balancer that was not created for this ' +
            'Service of this cluster; remove the annotation, and the Service gets its own',
        ],
      },
    },
  },
  {
    name: 'addresses of a balancer that no longer exists are not shown any more',
    seen: { ...bare, service: makeService({ finalizers, ports, annotations: named, status }) },
    plan: { step: { do: 'clear-status' } },
  },
  {
    name: 'the metro of a balancer is written where it is known',
    seen: {
      service: makeService({ finalizers, ports, annotations: { ...named, [annotations.location]: 'ny' }, status }),
    },
    plan: { step: { do: 'show-balancer', id: 'loadbal-1', location: 'da' } },
  },
  {
    name: 'an unknown metro of the balancer changes nothing',
    seen: { found: [makeBalancer({ location: undefined })] },
    plan: {},
  },
  {
    name: 'our second balancer goes, without the pools of the first',
    seen: { found: [makeBalancer(), late] },
    plan: { step: { do: 'remove-surplus', id: 'loadbal-2', pools: ['pool-x'] } },
  },
  {
    name: 'a second balancer that a predecessor created stays',
    seen: { found: [makeBalancer(), { ...late, name: 'previous-name' }] },
    plan: {},
  },
  {
    name: 'a second balancer whose address the Service shows stays',
    seen: { found: [makeBalancer(), { ...late, addresses: [address] }] },
    plan: {},
  },
  {
    name: 'a node that joins is added to the pool',
    seen: { nodes: [worker, other] },
    plan: {
      step: {
        do: 'change-ports',
        balancer: 'loadbal-1',
        changes: {
          ...noChange,
          updatePools: [
            { id: 'pool-80', add: [{ name: 'worker-2', address: other.address, port: 30_080 }], remove: [] },
          ],
        },
      },
    },
  },
  {
    name: 'a balancer that is being built is looked at again',
    seen: { found: [makeBalancer({ addresses: [] })] },
    plan: { againInMs: 2_000 },
  },
  {
    name: 'the addresses of the balancer are shown',
    seen: { service: makeService({ finalizers, ports, annotations: named }) },
    plan: { step: { do: 'show-status', addresses: [address] } },
  },
  {
    name: 'a balancer that reaches no node keeps its pools, and its Service says why',
    seen: { nodes: [], unreached: 'no node' },
    plan: { step: { do: 'report-problems', problems: ['no node'] } },
  },
  {
    name: 'a wrong Service keeps its balancer, which follows the nodes',
    seen: { wanted: wrong, nodes: [other] },
    plan: {
      step: {
        do: 'change-ports',
        balancer: 'loadbal-1',
        changes: {
          ...noChange,
          updatePools: [
            { id: 'pool-80', add: [{ name: 'worker-2', address: other.address, port: 30_080 }], remove: ['origin-1'] },
          ],
        },
      },
    },
  },
  { name: 'a wrong Service without a balancer gets none', seen: { ...bare, wanted: wrong }, plan: {} },
  {
    name: 'a wrong Service keeps ports that it no longer has',
    seen: { wanted: wrong, service: makeService({ finalizers, annotations: named, status, ports: [{ port: 443 }] }) },
    plan: {},
  },
  { name: 'an ignored Service is left alone', seen: { wanted: { kind: 'ignored', reason: '' }, nodes: [] }, plan: {} },
  {
    name: 'a Service that leaves the type shows the addresses no more',
    seen: { wanted: nothing },
    plan: { step: { do: 'clear-status' } },
  },
  {
    name: 'a Service that a predecessor served gets our finalizer before its balancer is deleted',
    seen: { wanted: nothing, service: makeService({ finalizers: [upstream], annotations: named, ports }) },
    plan: { step: { do: 'add-finalizer' } },
  },
  {
    name: 'a deleted Service loses its balancer with all pools, attached or not',
    seen: { service: deleted, pools: [makePool(80), makePool(443)] },
    plan: { step: { do: 'remove-balancer', id: 'loadbal-1', pools: ['pool-80', 'pool-443'] } },
  },
  {
    name: 'a deleted Service loses a second balancer too, a predecessor’s included',
    seen: { service: deleted, found: [{ ...late, name: 'previous-name' }], pools: [] },
    plan: { step: { do: 'remove-balancer', id: 'loadbal-2', pools: ['pool-80', 'pool-x'] } },
  },
  {
    name: 'a deleted Service loses pools that a crash left',
    seen: { ...bare, service: deleted, pools: [makePool(80)] },
    plan: { step: { do: 'remove-pools', pools: ['pool-80'] } },
  },
  {
    name: 'a deleted Service stays while its request is in flight',
    seen: { ...bare, service: deleted, isInFlight: true },
    plan: { againInMs: 5_000 },
  },
  {
    name: 'a deleted Service that names the balancer of another goes without it',
    seen: { ...bare, service: deleted, foreign: { id: 'loadbal-9', name: 'other', createdAt: undefined } },
    plan: { step: { do: 'forget' } },
  },
  {
    name: 'an ignored Service that is deleted loses its balancer',
    seen: { service: deleted, wanted: { kind: 'ignored', reason: '' } },
    plan: { step: { do: 'remove-balancer', id: 'loadbal-1', pools: ['pool-80'] } },
  },
  ...(['foreign', 'own', 'reserve', 'named'] as const).map((kind) => ({
    name: `a Service that another setting serves (${kind}) loses its balancer`,
    seen: { wanted: { kind } as Want, service: makeService({ finalizers, annotations: named, ports }) },
    plan: { step: { do: 'remove-balancer' as const, id: 'loadbal-1', pools: ['pool-80'] } },
  })),
]

for (const { name, seen, plan } of cases) test(name, () => assert.equal(planBalancer(makeSeen(seen)), plan))

/** The word of a plan in the table. */
const wordOf = ({ step, againInMs }: BalancerPlan) => step?.do ?? (againInMs === undefined ? '-' : 'wait')
testRows(
  'controllers/balancers/balancer-plan.ts',
  cases.map(({ name, plan }) => [name, wordOf(plan)]),
  [
    'an ignored Service is left alone',
    'a wrong Service keeps its balancer, which follows the nodes',
    'a wrong Service without a balancer gets none',
    'the finalizer comes before everything',
    'our second balancer goes, without the pools of the first',
    'while a request is in flight, no other is sent',
    'a Service that names the balancer of another gets none',
    'addresses of a balancer that no longer exists are not shown any more',
    'a Service without a balancer gets one',
    'a note that is left beside the id ends',
    'a node that joins is added to the pool',
    'a balancer that is being built is looked at again',
    'the addresses of the balancer are shown',
    'a balancer that reaches no node keeps its pools, and its Service says why',
    'a Service that a predecessor served gets our finalizer before its balancer is deleted',
    'a Service that leaves the type shows the addresses no more',
    'a deleted Service loses its balancer with all pools, attached or not',
    'a deleted Service loses pools that a crash left',
    'a deleted Service stays while its request is in flight',
    'a deleted Service that names the balancer of another goes without it',
  ],
)

test.run()
