import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { empty } from '../../../announcers/empty.ts'
import { type Plan, type Seen, planService } from '../../../controllers/services/service-plan.ts'
import { makeRecord, makeService } from '../../builders.ts'

const address = '203.0.113.40'
const where = 'spec.loadBalancerIP'
const finalizers = ['eip-admission.dev/address-cleanup']
const annotations = { 'eip-admission.dev/address': address }
const ingress = { loadBalancer: { ingress: [{ ip: address, ipMode: 'VIP' as const }] } }
const shown = { finalizers, annotations, loadBalancerIP: address }
const settledService = makeService({ ...shown, status: ingress })
const bound = makeRecord(
  { phase: 'Bound', address, reservationID: 'res-1' },
  { claimRef: { namespace: 'default', name: 'web', uid: 'uid-1' } },
)
const reserved = makeRecord({ phase: 'Reserved', address, reservationID: 'res-1' })
const released = makeRecord({ phase: 'Released', address, reservationID: 'res-1' }, { reclaimPolicy: 'Retain' })
const releasing = makeRecord({ phase: 'Releasing', address, reservationID: 'res-1' })

const keeping = { ...annotations, 'eip-admission.dev/reclaim-policy': 'Retain' }
const base = {
  wanted: { kind: 'reserve', location: 'da', reclaim: 'Delete', warnings: [] },
  announcer: empty(),
  requestAnnotations: { annotations: ['metallb.io/loadBalancerIPs'], besideSpec: false },
  recordAgeMs: 0,
  graceMs: 900_000,
} satisfies Omit<Seen, 'service' | 'record'>
const naming = empty({ ipAnnotation: 'example.com/ip' })
const named = { 'example.com/ip': address }
const own = { loadBalancer: { ingress: [{ ip: '198.51.100.7' }] } }
const nothing = { kind: 'nothing', reason: 'its type is ClusterIP' } as const
const announced = { annotations: {}, status: { loadBalancer: { ingress: [{ ip: address }] } } }

const cases: { name: string; seen: Partial<Seen>; plan: Plan }[] = [
  {
    name: 'a Service that admission missed first gets the finalizer',
    seen: { service: makeService() },
    plan: { step: { do: 'add-finalizer' } },
  },
  {
    name: 'then its address is claimed',
    seen: { service: makeService({ finalizers }) },
    plan: { step: { do: 'claim', location: 'da', reclaim: 'Delete' } },
  },
  {
    name: 'a record without an address is claimed again',
    seen: { service: makeService({ finalizers }), record: makeRecord({ phase: 'Requested' }) },
    plan: { step: { do: 'claim', location: 'da', reclaim: 'Delete' } },
  },
  {
    name: 'an address that the cloud has lost is shown no more',
    seen: { service: settledService, record: makeRecord({ phase: 'Requested' }) },
    plan: { step: { do: 'withdraw' } },
  },
  {
    name: 'then another one is claimed',
    seen: { service: makeService(shown), record: makeRecord({ phase: 'Requested' }) },
    plan: { step: { do: 'claim', location: 'da', reclaim: 'Delete' } },
  },
  {
    name: 'then the Service shows it',
    seen: { service: makeService({ finalizers }), record: reserved },
    plan: { step: { do: 'show-address', address } },
  },
  {
    name: 'then the record is bound',
    seen: { service: makeService(shown), record: reserved },
    plan: { step: { do: 'bind', record: reserved, uid: 'uid-1' } },
  },
  {
    name: 'a Service made anew takes the record over from the one before',
    seen: { service: makeService({ ...shown, uid: 'uid-2' }), record: bound },
    plan: { step: { do: 'bind', record: bound, uid: 'uid-2' } },
  },
  {
    name: 'then the address is announced',
    seen: { service: makeService(shown), record: bound },
    plan: { step: { do: 'announce', address, request: announced } },
  },
  { name: 'a settled Service needs nothing', seen: { service: settledService, record: bound }, plan: {} },
  {
    name: 'an address that somebody overwrote with a stale one of ours is mended',
    seen: {
      service: makeService({
        ...shown,
        loadBalancerIP: '203.0.113.9',
        annotations: { 'eip-admission.dev/address': '203.0.113.9' },
      }),
      record: bound,
    },
    plan: { step: { do: 'show-address', address } },
  },
  {
    name: 'a Service that shows an address of ours without a record gets a new one',
    seen: { service: makeService(shown) },
    plan: { step: { do: 'claim', location: 'da', reclaim: 'Delete' } },
  },
  {
    name: "a predecessor's Service keeps its address, marked as ours",
    seen: {
      service: makeService({ finalizers, loadBalancerIP: address }),
      wanted: { kind: 'own', address, where },
      record: reserved,
    },
    plan: { step: { do: 'show-address', address } },
  },
  {
    name: 'so does one whose address the predecessor wrote into an annotation',
    seen: {
      service: makeService({ finalizers, annotations: { 'metallb.io/loadBalancerIPs': address } }),
      wanted: { kind: 'own', address, where: 'annotation metallb.io/loadBalancerIPs' },
      record: reserved,
    },
    plan: { step: { do: 'show-address', address } },
  },
  {
    name: 'a Service that asks twice for its address is set right, for MetalLB would give it none',
    seen: {
      service: makeService({
        ...shown,
        annotations: { ...annotations, 'metallb.io/loadBalancerIPs': address },
        status: ingress,
      }),
      record: bound,
    },
    plan: { step: { do: 'show-address', address } },
  },
  {
    name: "a person's own address is announced",
    seen: { service: makeService({ finalizers, loadBalancerIP: address }), wanted: { kind: 'own', address, where } },
    plan: { step: { do: 'announce', address, request: announced } },
  },
  {
    name: 'an address that its Service no longer wants, as it brought another, is given back when the other is announced',
    seen: {
      service: makeService({
        finalizers,
        loadBalancerIP: '192.0.2.1',
        status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
      }),
      wanted: { kind: 'own', address: '192.0.2.1', where },
      record: bound,
    },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'a mistake is told',
    seen: { service: makeService(), wanted: { kind: 'wrong', problems: ['this', 'that'] } },
    plan: { step: { do: 'report-problems', problems: ['this', 'that'] } },
  },
  {
    name: 'a Service with an address keeps it although something on it became a mistake',
    seen: { service: makeService(shown), wanted: { kind: 'wrong', problems: ['this'] }, record: bound },
    plan: { step: { do: 'announce', address, request: announced } },
  },
  {
    name: 'what is none of our business is left alone, with all it has',
    seen: { service: settledService, wanted: { kind: 'ignored', reason: 'load balancing is off' }, record: bound },
    plan: {},
  },
  {
    name: 'a deleted Service is withdrawn first',
    seen: { service: makeService({ ...shown, status: ingress, deletionTimestamp: 'now' }), record: bound },
    plan: { step: { do: 'withdraw' } },
  },
  {
    name: 'an annotation that says the address is withdrawn first, whoever clears the status',
    seen: {
      service: makeService({ finalizers, annotations: named }),
      wanted: nothing,
      record: bound,
      announcer: naming,
    },
    plan: { step: { do: 'withdraw' } },
  },
  {
    name: 'an annotation that says the address of a person stays with the Service',
    seen: {
      service: makeService({ finalizers, annotations: { 'example.com/ip': '198.51.100.7' } }),
      wanted: nothing,
      announcer: naming,
    },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: 'once it was taken off, it waits for nobody who writes it again',
    seen: {
      service: makeService({ finalizers, annotations: { ...named, 'eip-admission.dev/withdrawing-since': 'a while' } }),
      wanted: nothing,
      record: bound,
      announcer: naming,
    },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'then its address is given back',
    seen: { service: makeService({ ...shown, deletionTimestamp: 'now' }), record: bound },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'or kept, where it said so',
    seen: {
      service: makeService({ ...shown, deletionTimestamp: 'now' }),
      record: { ...bound, spec: { ...bound.spec, reclaimPolicy: 'Retain' } },
    },
    plan: { step: { do: 'retain', record: { ...bound, spec: { ...bound.spec, reclaimPolicy: 'Retain' } } } },
  },
  {
    name: 'or kept, where the Service said so later',
    seen: {
      service: makeService({ ...shown, annotations: keeping, deletionTimestamp: 'now' }),
      wanted: { ...base.wanted, reclaim: 'Retain' },
      record: bound,
    },
    plan: { step: { do: 'retain', record: bound } },
  },
  {
    name: 'what a settled Service says about its end is written down',
    seen: {
      service: makeService({ ...shown, annotations: keeping, status: ingress }),
      wanted: { ...base.wanted, reclaim: 'Retain' },
      record: bound,
    },
    plan: { step: { do: 'set-reclaim-policy', record: bound, reclaim: 'Retain' } },
  },
  {
    name: 'an address that admission has just reserved for a Service that is stored as ClusterIP waits for its change',
    seen: { service: makeService({ type: 'ClusterIP' }), wanted: nothing, record: reserved, recordAgeMs: 60_000 },
    plan: { againInMs: 840_000 },
  },
  {
    name: 'so does one for a Service that is stored with an address of its own',
    seen: {
      service: makeService({ finalizers, loadBalancerIP: '198.51.100.7', status: own }),
      wanted: { kind: 'own', address: '198.51.100.7', where },
      record: reserved,
      recordAgeMs: 60_000,
    },
    plan: { againInMs: 840_000 },
  },
  {
    name: 'and goes back when that change never comes',
    seen: { service: makeService({ type: 'ClusterIP' }), wanted: nothing, record: reserved, recordAgeMs: 900_000 },
    plan: { step: { do: 'release', record: reserved } },
  },
  {
    name: 'then it may go',
    seen: { service: makeService({ ...shown, deletionTimestamp: 'now' }) },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: 'a Service whose address is retained may go',
    seen: { service: makeService({ ...shown, deletionTimestamp: 'now' }), record: released },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: "a predecessor's finalizer is taken off too",
    seen: {
      service: makeService({ finalizers: ['service.kubernetes.io/load-balancer-cleanup'], deletionTimestamp: 'now' }),
    },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: "a predecessor's finalizer on a Service of another class is not ours to take off",
    seen: {
      service: makeService({ finalizers: ['service.kubernetes.io/load-balancer-cleanup'], deletionTimestamp: 'now' }),
      wanted: { kind: 'ignored', reason: 'its class is example.com/other' },
    },
    plan: {},
  },
  {
    name: 'a Service deleted while load balancing is off still gives its address back',
    seen: {
      service: makeService({ ...shown, deletionTimestamp: 'now' }),
      wanted: { kind: 'ignored', reason: 'load balancing is off' },
      record: bound,
    },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'a Service turned ClusterIP gives its address back',
    seen: { service: makeService({ ...shown, type: 'ClusterIP' }), wanted: nothing, record: bound },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'then stops showing it',
    seen: { service: makeService({ ...shown, type: 'ClusterIP' }), wanted: nothing },
    plan: { step: { do: 'hide-address' } },
  },
  {
    name: 'then loses the finalizer',
    seen: { service: makeService({ type: 'ClusterIP', finalizers }), wanted: nothing },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: 'a Service that never was ours is left alone',
    seen: { service: makeService({ type: 'ClusterIP' }), wanted: nothing },
    plan: {},
  },
  {
    name: 'an address whose Service is not there yet waits',
    seen: { service: undefined, wanted: undefined, record: reserved, recordAgeMs: 1000 },
    plan: { againInMs: 899_000 },
  },
  {
    name: 'but not for ever',
    seen: { service: undefined, wanted: undefined, record: reserved, recordAgeMs: 900_000 },
    plan: { step: { do: 'release', record: reserved } },
  },
  {
    name: 'nor against the word of a person who deletes the record',
    seen: {
      service: undefined,
      wanted: undefined,
      record: { ...reserved, metadata: { ...reserved.metadata, deletionTimestamp: 'now' } },
    },
    plan: {
      step: { do: 'release', record: { ...reserved, metadata: { ...reserved.metadata, deletionTimestamp: 'now' } } },
    },
  },
  {
    name: 'the address of a Service that was torn away is given back at once',
    seen: { service: undefined, wanted: undefined, record: bound },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'a retained address stays',
    seen: { service: undefined, wanted: undefined, record: released },
    plan: {},
  },
  {
    name: 'until a person deletes it',
    seen: {
      service: undefined,
      wanted: undefined,
      record: { ...released, metadata: { ...released.metadata, deletionTimestamp: 'now' } },
    },
    plan: {
      step: { do: 'release', record: { ...released, metadata: { ...released.metadata, deletionTimestamp: 'now' } } },
    },
  },
  {
    name: 'a release that was begun goes on, whatever else is there',
    seen: { service: settledService, record: releasing },
    plan: { step: { do: 'release', record: releasing } },
  },
]

for (const { name, seen, plan } of cases) {
  test(name, () => assert.equal(planService({ ...base, service: undefined, record: undefined, ...seen }), plan))
}

test.run()
