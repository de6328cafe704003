import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ResourceQuota, Service } from '../../../kube/objects.ts'
import { quotaReason, quotaUse } from '../../../ledger/claim/limits.ts'
import { makeService } from '../../builders.ts'

const ports = [{ port: 80 }, { port: 443, nodePort: 30_443 }]
const withSpec = (spec: Partial<Service['spec']>): Service => ({
  ...makeService(),
  spec: { type: 'LoadBalancer', ports, ...spec },
})
const balancer = withSpec({})

const uses: { name: string; old: Service | null; service?: Service; use: object }[] = [
  {
    name: 'a new Service',
    old: null,
    use: { services: 1, 'count/services': 1, 'services.loadbalancers': 1, 'services.nodeports': 2 },
  },
  {
    name: 'a new Service without automatic node ports',
    old: null,
    service: withSpec({ allocateLoadBalancerNodePorts: false }),
    use: { services: 1, 'count/services': 1, 'services.loadbalancers': 1, 'services.nodeports': 1 },
  },
  {
    name: 'a Service that was of type ClusterIP',
    old: withSpec({ type: 'ClusterIP' }),
    use: { 'services.loadbalancers': 1, 'services.nodeports': 2 },
  },
  {
    name: 'a Service that was of type NodePort',
    old: withSpec({ type: 'NodePort' }),
    use: { 'services.loadbalancers': 1, 'services.nodeports': 0 },
  },
  { name: 'a Service that is a LoadBalancer already', old: balancer, use: {} },
]

for (const { name, old, service = balancer, use } of uses) {
  test(`what ${name} uses of a quota`, () => assert.equal(quotaUse(service, old), use))
}

type Amounts = Record<string, string>

const quota = (hard?: Amounts, used?: Amounts): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { namespace: 'default', name: 'small' },
  status: { ...(hard && { hard }), ...(used && { used }) },
})

const judged: { name: string; quotas: ResourceQuota[]; waiting?: number; reason: string | undefined }[] = [
  { name: 'no quota', quotas: [], reason: undefined },
  { name: 'a quota of other things', quotas: [quota({ pods: '0' }, { pods: '0' })], reason: undefined },
  { name: 'a quota with room', quotas: [quota({ services: '2' }, { services: '1' })], reason: undefined },
  {
    name: 'a full quota',
    quotas: [quota({ services: '2' }, { services: '2' })],
    reason: 'ResourceQuota small limits services to 2, of which 2 are used',
  },
  {
    name: 'a quota with room for those who wait',
    quotas: [quota({ services: '2' }, { services: '0' })],
    waiting: 1,
    reason: undefined,
  },
  {
    name: 'a quota that is full once those who wait are stored',
    quotas: [quota({ services: '2' }, { services: '1' })],
    waiting: 1,
    reason:
      'ResourceQuota small limits services to 2, of which 1 are used, and 1 more Services wait for their addresses',
  },
  {
    name: 'too few node ports',
    quotas: [quota({ 'services.nodeports': '5' }, { 'services.nodeports': '4' })],
    reason: 'ResourceQuota small limits services.nodeports to 5, of which 4 are used',
  },
  {
    name: 'the second of two quotas',
    quotas: [quota({ services: '1k' }, { services: '7' }), quota({ 'count/services': '0' }, { 'count/services': '0' })],
    reason: 'ResourceQuota small limits count/services to 0, of which 0 are used',
  },
  { name: 'a quota that nobody has counted yet', quotas: [quota({ services: '0' })], reason: undefined },
  { name: 'a quota without a status', quotas: [{ ...quota(), status: {} }], reason: undefined },
  {
    name: 'a quantity that nobody writes',
    quotas: [quota({ services: '1e-3' }, { services: '0' })],
    reason: undefined,
  },
]

for (const { name, quotas, waiting = 0, reason } of judged) {
  test(`${name}: ${reason === undefined ? 'passes' : 'is an obstacle'}`, () =>
    assert.is(quotaReason(quotas, quotaUse(balancer, null), waiting), reason))
}

test.run()
