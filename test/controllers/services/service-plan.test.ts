import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { empty } from '../../../announcers/empty.ts'
import { planService } from '../../../controllers/services/service-plan.ts'
import type { ServiceSeen } from '../../../controllers/services/service-state.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { assigned } from '../../../ledger/record/status.ts'
import type { ServicePlan } from '../../../controllers/services/service-step.ts'
import type { Want } from '../../../ledger/want/want.ts'
import type { Service } from '../../../kube/objects.ts'
import { makeRecord, makeService } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const address = '203.0.113.40'
const where = 'spec.loadBalancerIP'
const finalizers = ['eip-admission.dev/address-cleanup']
const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const annotations = { 'eip-admission.dev/address': address }
const ingress = { loadBalancer: { ingress: [{ ip: address, ipMode: 'VIP' as const }] } }
const shown = { finalizers, annotations, loadBalancerIP: address }
const settledService = makeService({ ...shown, status: ingress })
const bound = makeRecord(
  { phase: 'Bound', address, reservationID: 'res-1' },
  { claimRef: { namespace: 'default', name: 'web', uid: 'uid-1' } },
)
const { status: _unwritten, ...adopting } = makeRecord(
  {},
  { claimRef: { namespace: 'default', name: 'web' }, reservationID: 'res-1' },
)
const deleting: ElasticIP = {
  ...bound,
  status: { ...bound.status, phase: 'Releasing', deletionRequestedAt: '2026-01-31T09:00:00Z' },
}
const reserved = makeRecord({ phase: 'Reserved', address, reservationID: 'res-1' })
const released = makeRecord({ phase: 'Released', address, reservationID: 'res-1' }, { reclaimPolicy: 'Retain' })
const releasing = makeRecord({ phase: 'Releasing', address, reservationID: 'res-1' })

const assignedTo = assigned('True', { reason: 'OnService', message: '', now: new Date(0) })
const lost = makeRecord({ phase: 'Requested', conditions: [assignedTo] })
/** The Service was protected when a controller last saw it. */
const guarded: ElasticIP = {
  ...bound,
  metadata: { ...bound.metadata, annotations: { 'eip-admission.dev/service-protected': 'true' } },
}
const guardedForGood: ElasticIP = { ...guarded, spec: { ...guarded.spec, reclaimPolicy: 'Retain' } }
const guardedAndDeleted: ElasticIP = { ...guarded, metadata: { ...guarded.metadata, deletionTimestamp: 'now' } }
const { status: _gone, ...guardedUnwritten } = guarded
const { finalizers: _held, ...others } = bound.metadata
const unheld = { ...bound, metadata: others }
const unobserved = { ...bound, metadata: { ...bound.metadata, generation: 3 } }
/** As a backup leaves it that keeps no status. */
const { status: _lost, ...unwritten } = bound
const provisioned = { ...bound, spec: { ...bound.spec, source: { name: 'office', type: 'Provisioned' as const } } }
const retained: ElasticIP = { ...bound, spec: { ...bound.spec, reclaimPolicy: 'Retain' } }
const mistaken: Want = { kind: 'wrong', problems: ['this'] }

const keeping = { ...annotations, 'eip-admission.dev/reclaim-policy': 'Retain' }
const protecting = { ...annotations, 'eip-admission.dev/protect': 'true' }
const base = {
  key: 'default/web',
  others: [],
  wanted: { kind: 'reserve', location: 'da', family: 'ipv4', reclaim: 'Delete', warnings: [] },
  announcer: empty(),
  requestAnnotations: { annotations: ['metallb.io/loadBalancerIPs'], besideSpec: false },
  policy: { reclaimPolicy: 'Delete', allowRetain: true },
  users: () => [],
  unboundForMs: 0,
  graceMs: 900_000,
  withdrawingForMs: 0,
  announcement: undefined,
  rival: undefined,
  heir: undefined,
} satisfies Omit<ServiceSeen, 'service' | 'record'>
const naming = empty({ ipAnnotation: 'example.com/ip' })
const named = { 'example.com/ip': address }
const addressShown = { status: 'True', reason: 'AddressShown', message: `The status shows ${address}` } as const
const own = { loadBalancer: { ingress: [{ ip: '198.51.100.7' }] } }
const foreign: Extract<Want, { kind: 'foreign' }> = {
  kind: 'foreign',
  reason: 'its class is example.com/other',
  requested: [],
}
const office: Want = { kind: 'named', elasticIP: 'office', family: 'ipv4', warnings: [] }
const nothing = { kind: 'nothing', reason: 'its type is ClusterIP' } as const
const optedOut = { kind: 'nothing', reason: 'it opted out' } as const
const announced = { annotations: {}, status: { loadBalancer: { ingress: [{ ip: address }] } } }

const asked: ServiceSeen['announcer'] = {
  withdrawal: { annotations: { 'metallb.io/pool': 'disabled' }, clearsStatus: true },
  request: () => ({}),
}
const restores: ServiceSeen['announcer'] = {
  withdrawal: { annotations: { 'metallb.io/pool': 'disabled' }, clearsStatus: true, restoresStatus: true },
  request: () => ({}),
}
const leaving = makeService({ ...shown, status: ingress, deletionTimestamp: 'now' })
const withdrawing = makeService({
  finalizers,
  annotations: { ...annotations, ...asked.withdrawal?.annotations, 'eip-admission.dev/withdrawing-since': 'a while' },
  status: ingress,
  deletionTimestamp: 'now',
})
const withdrawn = makeService({ ...shown, deletionTimestamp: 'now' })

const restoring = ({ spec }: Service) => (spec.type === 'LoadBalancer' ? undefined : { spec: { type: 'LoadBalancer' } })
const lasting: ServiceSeen['announcer'] = {
  withdrawsOnlyOnDeletion: { restoring, afterReturn: '' },
  request: () => ({}),
}
const plain = makeService({ finalizers, type: 'ClusterIP' })

const cases: { name: string; seen: Partial<ServiceSeen>; plan: ServicePlan }[] = [
  {
    name: 'a record with the address of another one is corrected before anything relies on it',
    seen: { service: leaving, record: bound, rival: released },
    plan: { step: { do: 'correct-record', record: bound, rival: released } },
  },
  {
    name: 'a user-chosen address that is not checked yet waits',
    seen: {
      service: makeService({ finalizers, loadBalancerIP: '198.51.100.7' }),
      wanted: { kind: 'own', address: '198.51.100.7', where, doubt: { reason: 'unknown', isDecided: false } },
    },
    plan: { againInMs: 15_000 },
  },
  {
    name: 'a user-chosen address that the Service shows stays, and its owner reads what is wrong with it',
    seen: {
      service: makeService({ finalizers, loadBalancerIP: '198.51.100.7', status: own }),
      wanted: { kind: 'own', address: '198.51.100.7', where, doubt: { reason: 'foreign', isDecided: true } },
    },
    plan: { step: { do: 'report-problems', problems: ['foreign'] } },
  },
  {
    name: 'a user-chosen address that a Service must not show is withdrawn',
    seen: {
      service: makeService({ finalizers, loadBalancerIP: '198.51.100.7', status: own }),
      wanted: { kind: 'wrong', problems: ['held by another'], forbiddenAddress: '198.51.100.7' },
    },
    plan: { step: { do: 'clear-status', isOverdue: false } },
  },
  {
    name: 'then the problem is reported',
    seen: {
      service: makeService({ finalizers, loadBalancerIP: '198.51.100.7' }),
      wanted: { kind: 'wrong', problems: ['held by another'], forbiddenAddress: '198.51.100.7' },
    },
    plan: { step: { do: 'report-problems', problems: ['held by another'] } },
  },
  {
    name: 'a Service that admission missed first gets the finalizer',
    seen: { service: makeService() },
    plan: { step: { do: 'add-finalizer' } },
  },
  {
    name: 'then its address is claimed',
    seen: { service: makeService({ finalizers }) },
    plan: { step: { do: 'claim', location: 'da', family: 'ipv4', reclaim: 'Delete' } },
  },
  {
    name: 'a record without an address is claimed again',
    seen: { service: makeService({ finalizers }), record: makeRecord({ phase: 'Requested' }) },
    plan: { step: { do: 'claim', location: 'da', family: 'ipv4', reclaim: 'Delete' } },
  },
  {
    name: 'an address that the provider has lost is shown no more',
    seen: { service: settledService, record: lost },
    plan: { step: { do: 'clear-status', isOverdue: false } },
  },
  {
    name: 'then another one is claimed',
    seen: { service: makeService(shown), record: lost },
    plan: { step: { do: 'claim', location: 'da', family: 'ipv4', reclaim: 'Delete' } },
  },
  {
    name: 'an address that its record may yet find stays shown',
    seen: { service: settledService, record: makeRecord({ phase: 'Requested' }) },
    plan: { step: { do: 'claim', location: 'da', family: 'ipv4', reclaim: 'Delete' } },
  },
  {
    name: 'so does that of a record whose status a backup did not have',
    seen: { service: settledService, record: makeRecord() },
    plan: { step: { do: 'claim', location: 'da', family: 'ipv4', reclaim: 'Delete' } },
  },
  {
    name: 'one that such a record cannot find is shown no more',
    seen: { service: settledService, record: makeRecord(undefined, { ipFamily: 'IPv6' }) },
    plan: { step: { do: 'clear-status', isOverdue: false } },
  },
  {
    name: 'an address is replaced by the one that the record found instead',
    seen: {
      service: settledService,
      record: makeRecord({ phase: 'Reserved', address: '203.0.113.41', reservationID: 'res-2' }),
    },
    plan: { step: { do: 'show-address', address: '203.0.113.41' } },
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
    name: 'a Service made again takes the record over from the one before',
    seen: { service: makeService({ ...shown, uid: 'uid-2' }), record: bound },
    plan: { step: { do: 'bind', record: bound, uid: 'uid-2' } },
  },
  {
    name: 'a Service made again that names an ElasticIP withdraws the address of the one before',
    seen: { service: makeService({ ...shown, uid: 'uid-2', status: ingress }), record: bound, wanted: office },
    plan: { step: { do: 'clear-status', isOverdue: false } },
  },
  {
    name: 'then it hides it',
    seen: { service: makeService({ ...shown, uid: 'uid-2' }), record: bound, wanted: office },
    plan: { step: { do: 'hide-address' } },
  },
  {
    name: 'then that is released',
    seen: { service: makeService({ finalizers, uid: 'uid-2' }), record: bound, wanted: office },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'then the address is announced',
    seen: { service: makeService(shown), record: bound },
    plan: { step: { do: 'announce', request: announced, condition: addressShown } },
  },
  { name: 'a settled Service needs nothing', seen: { service: settledService, record: bound }, plan: {} },
  {
    name: 'an address that another writer replaced with an old one of ours is restored',
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
    name: 'a Service that shows our address without a record gets a new one',
    seen: { service: makeService(shown) },
    plan: { step: { do: 'claim', location: 'da', family: 'ipv4', reclaim: 'Delete' } },
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
    name: 'a Service that requests its address twice is corrected, because MetalLB would give it none',
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
    plan: { step: { do: 'announce', request: announced, condition: addressShown } },
  },
  {
    name: "a record that the sweep is writing for a predecessor's address is left to it, whatever its age",
    seen: {
      service: makeService({ finalizers, loadBalancerIP: address, status: ingress }),
      wanted: { kind: 'own', address, where },
      record: adopting,
      unboundForMs: 3_600_000,
    },
    plan: { againInMs: 5_000 },
  },
  {
    name: 'an address that its Service no longer wants is released when its own address is announced',
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
    name: 'a mistake is reported',
    seen: { service: makeService(), wanted: { kind: 'wrong', problems: ['this', 'that'] } },
    plan: { step: { do: 'report-problems', problems: ['this', 'that'] } },
  },
  {
    name: 'a Service with an address keeps it although something on it became a mistake',
    seen: { service: makeService(shown), wanted: { kind: 'wrong', problems: ['this'] }, record: bound },
    plan: { step: { do: 'announce', request: announced, condition: addressShown } },
  },
  {
    name: 'a Service that we ignore keeps everything that it has',
    seen: { service: settledService, wanted: { kind: 'ignored', reason: 'load balancing is off' }, record: bound },
    plan: {},
  },
  {
    name: 'the address of a deleted Service is withdrawn first',
    seen: { service: leaving, record: bound },
    plan: { step: { do: 'clear-status', isOverdue: false } },
  },
  {
    name: 'by the software that announces it, where that can be asked',
    seen: { service: leaving, record: bound, announcer: asked },
    plan: { step: { do: 'withdraw' } },
  },
  {
    name: 'also where only the annotation says that it was asked',
    seen: {
      service: makeService({
        ...shown,
        annotations: { ...annotations, 'eip-admission.dev/withdrawing-since': '2001-01-31T09:00:00Z' },
        status: ingress,
        deletionTimestamp: 'now',
      }),
      record: bound,
      announcer: asked,
      withdrawingForMs: 60_000,
    },
    plan: { step: { do: 'withdraw' } },
  },
  {
    name: 'which has a minute for it',
    seen: { service: withdrawing, record: bound, announcer: asked, withdrawingForMs: 59_999 },
    plan: { againInMs: 500 },
  },
  {
    name: 'and is not waited for after that',
    seen: { service: withdrawing, record: bound, announcer: asked, withdrawingForMs: 60_000 },
    plan: { step: { do: 'clear-status', isOverdue: true } },
  },
  {
    name: 'unless it would write the address back: then a person learns of it',
    seen: { service: withdrawing, record: bound, announcer: restores, withdrawingForMs: 60_000 },
    plan: { step: { do: 'report-withdrawal' } },
  },
  {
    name: 'an address that is still written into the configuration is not released',
    seen: { service: withdrawn, record: bound, announcement: { services: [] } },
    plan: { againInMs: 500 },
  },
  {
    name: 'nor one that only this Service shows',
    seen: { service: withdrawn, record: bound, announcement: { services: ['default/web'] } },
    plan: { againInMs: 500 },
  },
  {
    name: 'nor one that the machine of a deleted Node may announce, which its owner is told',
    seen: { service: withdrawn, record: bound, announcement: { services: [], waitMs: 9_000, reason: 'Node a' } },
    plan: { step: { do: 'report-wait', reason: 'Node a', againInMs: 9_000 } },
  },
  {
    name: 'nor one that another Service shows, which is reported',
    seen: { service: withdrawn, record: bound, announcement: { services: ['default/web', 'default/other'] } },
    plan: { step: { do: 'report-shared', address, services: ['default/other'] } },
  },
  {
    name: 'unless the record passes to that one',
    seen: {
      service: withdrawn,
      record: bound,
      announcement: { services: ['default/other'] },
      heir: makeService({ name: 'other' }),
    },
    plan: { step: { do: 'release', record: bound, isAnnounced: true } },
  },
  {
    name: 'unless it is lent: then its ElasticIP has it again',
    seen: { service: withdrawn, record: provisioned, wanted: office, announcement: { services: ['default/other'] } },
    plan: { step: { do: 'release', record: provisioned, isAnnounced: true } },
  },
  {
    name: 'but no lent one that another namespace shows',
    seen: { service: withdrawn, record: provisioned, wanted: office, announcement: { services: ['tenant/other'] } },
    plan: { step: { do: 'report-shared', address, services: ['tenant/other'] } },
  },
  {
    name: 'one to be retained stays that of its Service while another one of the namespace shows it',
    seen: { service: withdrawn, record: retained, announcement: { services: ['default/other'] } },
    plan: { step: { do: 'retain', record: retained } },
  },
  {
    name: 'but not while one of another namespace does',
    seen: { service: withdrawn, record: retained, announcement: { services: ['default/other', 'tenant/other'] } },
    plan: { step: { do: 'report-shared', address, services: ['default/other', 'tenant/other'] } },
  },
  {
    name: 'unless the record of that one holds the same reservation',
    seen: { service: withdrawn, record: bound, announcement: { services: ['default/other'], isTheirs: true } },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'which no Service may retain',
    seen: {
      service: withdrawn,
      record: { ...bound, spec: { ...bound.spec, reclaimPolicy: 'Retain' } },
      announcement: { services: ['default/other'], isTheirs: true },
    },
    plan: { step: { do: 'report-shared', address, services: ['default/other'] } },
  },
  {
    name: 'unless its deletion was requested: the provider may have given it to that one since',
    seen: { service: withdrawn, record: deleting, announcement: { services: ['default/web', 'default/other'] } },
    plan: { step: { do: 'release', record: deleting } },
  },
  {
    name: 'a Service without a record may go although another one shows its address',
    seen: { service: withdrawn, announcement: { services: ['default/other'] } },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: 'who announces an address matters for no other step',
    seen: { service: makeService(shown), record: bound, announcement: { services: ['default/other'] } },
    plan: { step: { do: 'announce', request: announced, condition: addressShown } },
  },
  {
    name: 'an annotation that shows the address is withdrawn first',
    seen: {
      service: makeService({ finalizers, annotations: named }),
      wanted: nothing,
      record: bound,
      announcer: naming,
    },
    plan: { step: { do: 'withdraw' } },
  },
  {
    name: 'an annotation with a user-chosen address stays on the Service',
    seen: {
      service: makeService({ finalizers, annotations: { 'example.com/ip': '198.51.100.7' } }),
      wanted: nothing,
      announcer: naming,
    },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: 'once it was removed, the release does not wait if it is written again',
    seen: {
      service: makeService({ finalizers, annotations: { ...named, 'eip-admission.dev/withdrawing-since': 'a while' } }),
      wanted: nothing,
      record: bound,
      announcer: naming,
    },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'an address that is announced until its Service no longer exists is not released before',
    seen: { service: plain, wanted: nothing, record: bound, announcer: lasting },
    plan: { step: { do: 'postpone-release', record: bound } },
  },
  {
    name: 'nor by the next process',
    seen: {
      service: plain,
      wanted: nothing,
      announcer: lasting,
      record: { ...releasing, spec: bound.spec },
    },
    plan: {},
  },
  {
    name: 'the Service does not continue to show it',
    seen: {
      service: makeService({ finalizers, annotations, type: 'ClusterIP' }),
      wanted: nothing,
      record: bound,
      announcer: lasting,
    },
    plan: { step: { do: 'hide-address' } },
  },
  {
    name: 'nor does a user-chosen address end that',
    seen: {
      service: makeService({ finalizers, loadBalancerIP: '192.0.2.1' }),
      wanted: { kind: 'own', address: '192.0.2.1', where },
      record: bound,
      announcer: lasting,
    },
    plan: { step: { do: 'postpone-release', record: bound } },
  },
  {
    name: 'its deletion goes first',
    seen: {
      service: makeService({ finalizers, deletionTimestamp: 'now' }),
      wanted: nothing,
      announcer: lasting,
      record: { ...releasing, spec: bound.spec },
    },
    plan: { step: { do: 'remove-finalizers' } },
  },
  ...[finalizers, ['example.com/theirs']].map((left) => ({
    name: `but not before the software will heed it, with ${left.join()}`,
    seen: {
      service: makeService({ finalizers: left, type: 'ClusterIP', deletionTimestamp: 'now' }),
      wanted: nothing,
      announcer: lasting,
      record: { ...releasing, spec: bound.spec },
    },
    plan: { step: { do: 'restore-service' as const, change: { spec: { type: 'LoadBalancer' } } } },
  })),
  {
    name: 'which does not matter for an address whose deletion was requested',
    seen: {
      service: makeService({ finalizers, type: 'ClusterIP', deletionTimestamp: 'now' }),
      wanted: nothing,
      announcer: lasting,
      record: makeRecord({ ...releasing.status, deletionRequestedAt: 'then' }, bound.spec),
    },
    plan: {
      step: { do: 'release', record: makeRecord({ ...releasing.status, deletionRequestedAt: 'then' }, bound.spec) },
    },
  },
  {
    name: 'an address of an earlier Service of the name is released',
    seen: {
      service: makeService({ type: 'ClusterIP', uid: 'uid-2' }),
      wanted: nothing,
      record: bound,
      announcer: lasting,
    },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'and one whose deletion was requested',
    seen: {
      service: plain,
      wanted: nothing,
      announcer: lasting,
      record: makeRecord({ ...releasing.status, deletionRequestedAt: 'then' }, bound.spec),
    },
    plan: {
      step: { do: 'release', record: makeRecord({ ...releasing.status, deletionRequestedAt: 'then' }, bound.spec) },
    },
  },
  {
    name: 'a Service that was never stored with its address',
    seen: {
      service: makeService({ type: 'ClusterIP' }),
      wanted: nothing,
      record: reserved,
      announcer: lasting,
      unboundForMs: 900_000,
    },
    plan: { step: { do: 'release', record: reserved } },
  },
  {
    name: 'then its address is released',
    seen: { service: makeService({ ...shown, deletionTimestamp: 'now' }), record: bound },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'or retained, if its policy is Retain',
    seen: {
      service: makeService({ ...shown, deletionTimestamp: 'now' }),
      record: { ...bound, spec: { ...bound.spec, reclaimPolicy: 'Retain' } },
    },
    plan: { step: { do: 'retain', record: { ...bound, spec: { ...bound.spec, reclaimPolicy: 'Retain' } } } },
  },
  {
    name: 'or retained, if the Service requests that later',
    seen: {
      service: makeService({ ...shown, annotations: keeping, deletionTimestamp: 'now' }),
      wanted: { ...base.wanted, reclaim: 'Retain' },
      record: bound,
    },
    plan: { step: { do: 'retain', record: bound } },
  },
  {
    name: 'or retained, if a Service requests it that a setting has made wrong',
    seen: {
      service: makeService({ ...shown, annotations: keeping, deletionTimestamp: 'now' }),
      wanted: mistaken,
      record: bound,
    },
    plan: { step: { do: 'retain', record: bound } },
  },
  {
    name: 'but not where no Service may request it',
    seen: {
      service: makeService({ ...shown, annotations: keeping, deletionTimestamp: 'now' }),
      policy: { reclaimPolicy: 'Delete', allowRetain: false },
      wanted: mistaken,
      record: bound,
    },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'nor where that is misspelt',
    seen: {
      service: makeService({
        ...shown,
        annotations: { ...annotations, 'eip-admission.dev/reclaim-policy': 'retain' },
        deletionTimestamp: 'now',
      }),
      wanted: mistaken,
      record: bound,
    },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'a protected address is retained where admission did not see the deletion',
    seen: {
      service: makeService({
        ...shown,
        annotations: { ...protecting, 'eip-admission.dev/reclaim-policy': 'Delete' },
        deletionTimestamp: 'now',
      }),
      record: bound,
    },
    plan: { step: { do: 'retain', record: bound } },
  },
  {
    name: 'nor the update that gives it to another program',
    seen: {
      service: makeService({ finalizers, annotations: protecting, type: 'ClusterIP' }),
      wanted: nothing,
      record: bound,
    },
    plan: { step: { do: 'retain', record: bound } },
  },
  {
    name: 'but not where no Service may ask for that',
    seen: {
      service: makeService({ ...shown, annotations: protecting, deletionTimestamp: 'now' }),
      policy: { reclaimPolicy: 'Delete', allowRetain: false },
      record: bound,
    },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'while its Service lives, its record says that it is protected',
    seen: { service: makeService({ ...shown, annotations: protecting, status: ingress }), record: bound },
    plan: { step: { do: 'note-protection', record: bound, isProtected: true } },
  },
  {
    name: 'and keeps the policy that counts without protection',
    seen: { service: makeService({ ...shown, annotations: protecting, status: ingress }), record: guarded },
    plan: {},
  },
  {
    name: 'which is all that counts once the protection ends',
    seen: { service: settledService, record: guarded },
    plan: { step: { do: 'note-protection', record: guarded, isProtected: false } },
  },
  {
    name: 'or is forbidden',
    seen: {
      service: makeService({ ...shown, annotations: protecting, status: ingress }),
      policy: { reclaimPolicy: 'Delete', allowRetain: false },
      record: guarded,
    },
    plan: { step: { do: 'note-protection', record: guarded, isProtected: false } },
  },
  {
    name: 'a protected Service that nobody saw go: its address is to be retained',
    seen: { service: undefined, record: guarded },
    plan: { step: { do: 'set-reclaim-policy', record: guarded, reclaim: 'Retain' } },
  },
  {
    name: 'then it is',
    seen: { service: undefined, record: guardedForGood },
    plan: { step: { do: 'retain', record: guardedForGood } },
  },
  {
    name: 'but not where no Service may ask for that any more',
    seen: { service: undefined, record: guarded, policy: { reclaimPolicy: 'Delete', allowRetain: false } },
    plan: { step: { do: 'release', record: guarded } },
  },
  {
    name: 'nor where a person deletes the record',
    seen: { service: undefined, record: guardedAndDeleted },
    plan: { step: { do: 'release', record: guardedAndDeleted } },
  },
  {
    name: 'one whose record lost its status waits for a Service first',
    seen: { service: undefined, record: guardedUnwritten },
    plan: { againInMs: 900_000 },
  },
  {
    name: 'and is to be retained then, too',
    seen: { service: undefined, record: guardedUnwritten, unboundForMs: 900_000 },
    plan: { step: { do: 'set-reclaim-policy', record: guardedUnwritten, reclaim: 'Retain' } },
  },
  {
    name: 'a Service that is deleted as soon as its protection ends records that before it goes',
    seen: {
      service: makeService({ ...shown, deletionTimestamp: 'now' }),
      record: guarded,
      announcer: lasting,
    },
    plan: { step: { do: 'note-protection', record: guarded, isProtected: false } },
  },
  {
    name: 'and its address is released as ever',
    seen: { service: makeService({ ...shown, deletionTimestamp: 'now' }), record: guarded },
    plan: { step: { do: 'release', record: guarded } },
  },
  {
    name: 'the record says that it is retained before a Service goes that is withdrawn only then',
    seen: {
      service: makeService({ ...shown, annotations: protecting, deletionTimestamp: 'now' }),
      record: bound,
      announcer: lasting,
    },
    plan: { step: { do: 'set-reclaim-policy', record: bound, reclaim: 'Retain' } },
  },
  {
    name: 'then that Service goes',
    seen: {
      service: makeService({ ...shown, annotations: protecting, deletionTimestamp: 'now' }),
      record: { ...bound, spec: { ...bound.spec, reclaimPolicy: 'Retain' } },
      announcer: lasting,
    },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: 'one that lost its status records it, too',
    seen: {
      service: makeService({ ...shown, annotations: protecting, deletionTimestamp: 'now' }),
      record: unwritten,
      announcer: lasting,
    },
    plan: { step: { do: 'set-reclaim-policy', record: unwritten, reclaim: 'Retain' } },
  },
  {
    name: 'but not one that is retained already',
    seen: {
      service: makeService({
        ...shown,
        annotations: { ...annotations, 'eip-admission.dev/reclaim-policy': 'Delete' },
        deletionTimestamp: 'now',
      }),
      record: released,
      announcer: lasting,
    },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: 'a record that lost its address says what its Service says before a release finds the address',
    seen: {
      service: makeService({ ...shown, annotations: protecting, deletionTimestamp: 'now' }),
      record: unwritten,
    },
    plan: { step: { do: 'set-reclaim-policy', record: unwritten, reclaim: 'Retain' } },
  },
  {
    name: 'so it does where the Service has a user-chosen address by now',
    seen: {
      service: makeService({
        finalizers,
        annotations: { 'eip-admission.dev/reclaim-policy': 'Retain' },
        loadBalancerIP: '198.51.100.7',
        status: own,
      }),
      wanted: { kind: 'own', address: '198.51.100.7', where },
      record: lost,
      unboundForMs: 900_000,
    },
    plan: { step: { do: 'set-reclaim-policy', record: lost, reclaim: 'Retain' } },
  },
  {
    name: 'an address that is to be retained gets its record back before its Service goes',
    seen: { service: makeService({ ...shown, annotations: keeping, deletionTimestamp: 'now' }) },
    plan: { step: { do: 'recover-records', address, otherwise: { do: 'remove-finalizers' } } },
  },
  {
    name: 'as where retaining is the default',
    seen: {
      service: makeService({ ...shown, deletionTimestamp: 'now' }),
      policy: { reclaimPolicy: 'Retain', allowRetain: false },
    },
    plan: { step: { do: 'recover-records', address, otherwise: { do: 'remove-finalizers' } } },
  },
  {
    name: 'but not a Service that had the address of an ElasticIP',
    seen: { service: makeService({ ...shown, annotations: keeping, deletionTimestamp: 'now' }), wanted: office },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: 'nor one that had none',
    seen: {
      service: makeService({ finalizers, deletionTimestamp: 'now' }),
      policy: { reclaimPolicy: 'Retain', allowRetain: true },
    },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: 'a record that cleanup left without our finalizer gets it',
    seen: { service: settledService, record: unheld },
    plan: { step: { do: 'hold-record', record: unheld } },
  },
  {
    name: 'a status that is about an earlier spec is written again',
    seen: { service: settledService, record: unobserved },
    plan: { step: { do: 'observe-record', record: unobserved } },
  },
  {
    name: 'but not of a record that is deleted',
    seen: {
      service: settledService,
      record: { ...unobserved, metadata: { ...unobserved.metadata, deletionTimestamp: 'now' } },
    },
    plan: {},
  },
  {
    name: 'also where its Service no longer exists',
    seen: { service: undefined, record: { ...unheld, status: { ...unheld.status, phase: 'Released' } } },
    plan: { step: { do: 'hold-record', record: { ...unheld, status: { ...unheld.status, phase: 'Released' } } } },
  },
  {
    name: 'but not one that is deleted: nothing can add it then',
    seen: {
      service: settledService,
      record: { ...unheld, metadata: { ...unheld.metadata, deletionTimestamp: 'now' } },
    },
    plan: {},
  },
  {
    name: 'a protected address of an ElasticIP goes back to it',
    seen: {
      service: makeService({ ...shown, annotations: protecting, deletionTimestamp: 'now' }),
      wanted: office,
      record: provisioned,
    },
    plan: { step: { do: 'release', record: provisioned } },
  },
  {
    name: 'an address of an ElasticIP is never retained for a Service',
    seen: {
      service: makeService({ ...shown, annotations: keeping, deletionTimestamp: 'now' }),
      wanted: mistaken,
      record: provisioned,
    },
    plan: { step: { do: 'release', record: provisioned } },
  },
  {
    name: 'the update that takes the address from a Service may say that it is retained',
    seen: {
      service: makeService({ finalizers, type: 'ClusterIP', annotations: keeping }),
      wanted: nothing,
      record: bound,
    },
    plan: { step: { do: 'retain', record: bound } },
  },
  {
    name: 'so may the update that names a user-chosen address',
    seen: {
      service: makeService({
        finalizers,
        annotations: { 'eip-admission.dev/reclaim-policy': 'Retain' },
        loadBalancerIP: '198.51.100.7',
        status: own,
      }),
      wanted: { kind: 'own', address: '198.51.100.7', where },
      record: bound,
    },
    plan: { step: { do: 'retain', record: bound } },
  },
  {
    name: 'the reclaim policy of a settled Service is written into its record',
    seen: {
      service: makeService({ ...shown, annotations: keeping, status: ingress }),
      wanted: { ...base.wanted, reclaim: 'Retain' },
      record: bound,
    },
    plan: { step: { do: 'set-reclaim-policy', record: bound, reclaim: 'Retain' } },
  },
  {
    name: 'an address that admission has just reserved for a Service that is stored as ClusterIP waits for its change',
    seen: { service: makeService({ type: 'ClusterIP' }), wanted: nothing, record: reserved, unboundForMs: 60_000 },
    plan: { againInMs: 840_000 },
  },
  {
    name: 'so does one for a Service that is stored with an address of its own',
    seen: {
      service: makeService({ finalizers, loadBalancerIP: '198.51.100.7', status: own }),
      wanted: { kind: 'own', address: '198.51.100.7', where },
      record: reserved,
      unboundForMs: 60_000,
    },
    plan: { againInMs: 840_000 },
  },
  {
    name: 'and is released when that change never comes',
    seen: { service: makeService({ type: 'ClusterIP' }), wanted: nothing, record: reserved, unboundForMs: 900_000 },
    plan: { step: { do: 'release', record: reserved } },
  },
  {
    name: 'then the Service may be deleted',
    seen: { service: makeService({ ...shown, deletionTimestamp: 'now' }) },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: 'a Service whose address is retained may be deleted',
    seen: { service: makeService({ ...shown, deletionTimestamp: 'now' }), record: released },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: "a predecessor's finalizer is removed too",
    seen: {
      service: makeService({ finalizers: ['service.kubernetes.io/load-balancer-cleanup'], deletionTimestamp: 'now' }),
    },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: "a predecessor's finalizer on a Service of another class is not ours to remove",
    seen: {
      service: makeService({ finalizers: ['service.kubernetes.io/load-balancer-cleanup'], deletionTimestamp: 'now' }),
      wanted: foreign,
    },
    plan: {},
  },
  {
    name: 'nor is it where the Service was ours before',
    seen: {
      service: makeService({
        finalizers: [...finalizers, 'service.kubernetes.io/load-balancer-cleanup'],
        loadBalancerClass: 'example.com/other',
        status: own,
        deletionTimestamp: 'now',
      }),
      wanted: foreign,
    },
    plan: { step: { do: 'remove-finalizers', only: 'ours' } },
  },
  {
    name: 'what a Service shows of ours when another program serves it is withdrawn',
    seen: { service: settledService, wanted: foreign, record: bound },
    plan: { step: { do: 'clear-status', isOverdue: false } },
  },
  {
    name: 'then it is released, whatever the other program shows',
    seen: { service: makeService({ ...shown, status: own }), wanted: foreign, record: bound },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'then the Service forgets it',
    seen: { service: makeService({ ...shown, status: own }), wanted: foreign },
    plan: { step: { do: 'hide-address' } },
  },
  {
    name: 'an address that it requests of the other program stays reserved',
    seen: {
      service: makeService(shown),
      wanted: { ...foreign, requested: [{ address, where: 'an annotation' }] },
      record: bound,
    },
    plan: {},
  },
  {
    name: 'the address of a Service deleted while load balancing is off is released too',
    seen: {
      service: makeService({ ...shown, deletionTimestamp: 'now' }),
      wanted: { kind: 'ignored', reason: 'load balancing is off' },
      record: bound,
    },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'a Service turned ClusterIP first forgets our address that it names without our annotation',
    seen: { service: makeService({ type: 'ClusterIP', loadBalancerIP: address }), wanted: nothing, record: bound },
    plan: { step: { do: 'hide-address', address } },
  },
  {
    name: 'it keeps a user-chosen address that it names beside ours',
    seen: { service: makeService({ type: 'ClusterIP', loadBalancerIP: '192.0.2.1' }), wanted: nothing, record: bound },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: "a Service that is no LoadBalancer loses a predecessor's finalizer",
    seen: { service: makeService({ type: 'ClusterIP', finalizers: [upstream] }), wanted: nothing },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: "a deleted Service that is no LoadBalancer loses a predecessor's finalizer",
    seen: {
      service: makeService({ type: 'ClusterIP', finalizers: [upstream], deletionTimestamp: 'now' }),
      wanted: nothing,
    },
    plan: { step: { do: 'remove-finalizers' } },
  },
  {
    name: "a LoadBalancer that opted out keeps another program's finalizer",
    seen: { service: makeService({ finalizers: [upstream] }), wanted: optedOut },
    plan: {},
  },
  {
    name: 'a Service that opted out by a manifest, which lacks our finalizer, withdraws its address first',
    seen: { service: makeService({ status: ingress }), wanted: optedOut, record: bound, announcer: asked },
    plan: { step: { do: 'withdraw' } },
  },
  {
    name: 'so does one whose deletion another finalizer holds up',
    seen: {
      service: makeService({ status: ingress, finalizers: ['example.com/theirs'], deletionTimestamp: 'now' }),
      record: bound,
    },
    plan: { step: { do: 'clear-status', isOverdue: false } },
  },
  {
    name: "another program's address stays in the status of such a Service",
    seen: { service: makeService({ status: own }), wanted: optedOut, record: bound, announcer: asked },
    plan: { step: { do: 'release', record: bound } },
  },
  {
    name: 'and a retained address that such a Service shows by another program',
    seen: { service: makeService({ status: ingress }), wanted: optedOut, record: released, announcer: asked },
    plan: {},
  },
  {
    name: 'the address of a Service turned ClusterIP is released',
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
    name: 'an address whose Service does not exist yet waits',
    seen: { service: undefined, wanted: undefined, record: reserved, unboundForMs: 1000 },
    plan: { againInMs: 899_000 },
  },
  {
    name: 'but not for ever',
    seen: { service: undefined, wanted: undefined, record: reserved, unboundForMs: 900_000 },
    plan: { step: { do: 'release', record: reserved } },
  },
  {
    name: 'nor when a person deletes the record',
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
    name: 'an address that is retained for the name is not released where the Service requests one of the other family',
    seen: { service: makeService({ finalizers }), record: released, wanted: { ...base.wanted, family: 'ipv6' } },
    plan: { step: { do: 'claim', location: 'da', family: 'ipv6', reclaim: 'Delete' } },
  },
  {
    name: 'the address of a Service that vanished without its finalizer is released at once',
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
    name: 'a user-chosen address replaces the reserved one, which the Service still shows',
    seen: {
      service: makeService({ finalizers, annotations, loadBalancerIP: '198.51.100.7', status: own }),
      wanted: { kind: 'own', address: '198.51.100.7', where },
      record: bound,
    },
    plan: { step: { do: 'hide-address' } },
  },
  {
    name: 'a record that asks for the other family ends after the grace period',
    seen: { service: makeService({ finalizers }), record: makeRecord(undefined, { ipFamily: 'IPv6' }) },
    plan: { againInMs: 900_000 },
  },
  {
    name: 'a field that people write is yielded by its manager',
    seen: {
      service: makeService({
        ...shown,
        status: ingress,
        managedFields: [
          {
            manager: 'eip-admission',
            operation: 'Update',
            fieldsV1: { 'f:spec': { 'f:loadBalancerIP': {} } },
          },
        ],
      }),
      record: bound,
    },
    plan: { step: { do: 'yield-fields' } },
  },
  {
    name: 'a Service goes after its second address',
    seen: { service: withdrawn, others: [releasing] },
    plan: { againInMs: 1_000 },
  },
  {
    name: 'a release that its Service does not want back goes on, whatever the software does',
    seen: { service: settledService, record: releasing, announcer: lasting },
    plan: { step: { do: 'release', record: releasing } },
  },
  {
    name: 'a release that has begun continues, whatever the Service says',
    seen: { service: settledService, record: releasing },
    plan: { step: { do: 'release', record: releasing } },
  },
]

/** The word of a plan in the tables. */
const wordOf = ({ step, againInMs }: ServicePlan) => step?.do ?? (againInMs === undefined ? '-' : 'wait')
const outcomes = cases.map(({ name, plan }) => [name, wordOf(plan)] as const)

for (const { name, seen, plan } of cases) {
  test(name, () => assert.equal(planService({ ...base, service: undefined, record: undefined, ...seen }), plan))
}

testRows('controllers/services/address-plan.ts', outcomes, [
  'a Service that admission missed first gets the finalizer',
  "a predecessor's Service keeps its address, marked as ours",
  'a user-chosen address that is not checked yet waits',
  'a user-chosen address replaces the reserved one, which the Service still shows',
  "a person's own address is announced",
  "a record that the sweep is writing for a predecessor's address is left to it, whatever its age",
  'so does one for a Service that is stored with an address of its own',
  'so it does where the Service has a user-chosen address by now',
  'an address that its Service no longer wants is released when its own address is announced',
  'a user-chosen address that the Service shows stays, and its owner reads what is wrong with it',
  'a Service made again that names an ElasticIP withdraws the address of the one before',
  'then that is released',
  'an address that the provider has lost is shown no more',
  'a record that asks for the other family ends after the grace period',
  'then its address is claimed',
  'then the Service shows it',
  'then the record is bound',
  'then the address is announced',
  'a field that people write is yielded by its manager',
  'the reclaim policy of a settled Service is written into its record',
  'while its Service lives, its record says that it is protected',
  'a settled Service needs nothing',
])
testRows('controllers/services/removal-plan.ts', outcomes, [
  'nor when a person deletes the record',
  'an address whose Service does not exist yet waits',
  'a protected Service that nobody saw go: its address is to be retained',
  'the address of a Service that vanished without its finalizer is released at once',
  'but not for ever',
  'a retained address stays',
  'but not before the software will heed it, with eip-admission.dev/address-cleanup',
  'the record says that it is retained before a Service goes that is withdrawn only then',
  'a Service that is deleted as soon as its protection ends records that before it goes',
  'its deletion goes first',
  'the address of a deleted Service is withdrawn first',
  'a Service that opted out by a manifest, which lacks our finalizer, withdraws its address first',
  'an address that admission has just reserved for a Service that is stored as ClusterIP waits for its change',
  'a Service turned ClusterIP first forgets our address that it names without our annotation',
  'the Service does not continue to show it',
  'a record that lost its address says what its Service says before a release finds the address',
  'then its address is released',
  'then stops showing it',
  'a Service goes after its second address',
  'an address that is to be retained gets its record back before its Service goes',
  'then the Service may be deleted',
  'a Service that never was ours is left alone',
])
testRows({ file: 'controllers/services/removal-plan.ts', table: 1 }, outcomes, [
  'a Service that was never stored with its address',
  'a release that its Service does not want back goes on, whatever the software does',
  'and one whose deletion was requested',
  'nor by the next process',
  'an address that is announced until its Service no longer exists is not released before',
])
testRows('controllers/services/service-plan.ts', outcomes, [
  'unless its deletion was requested: the provider may have given it to that one since',
  'then its address is released',
  'unless the record of that one holds the same reservation',
  'nor one that the machine of a deleted Node may announce, which its owner is told',
  'an address that is still written into the configuration is not released',
  'unless the record passes to that one',
  'unless it is lent: then its ElasticIP has it again',
  'one to be retained stays that of its Service while another one of the namespace shows it',
  'nor one that another Service shows, which is reported',
  'a Service without a record may go although another one shows its address',
])

test.run()
