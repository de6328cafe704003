import type { Balancer } from '../../../clouds/ports/balancers.ts'
import { balancerNames } from '../../../controllers/balancers/balancer-names.ts'
import type { BalancerSeen } from '../../../controllers/balancers/balancer-state.ts'
import type { Node, NodeAddress } from '../../../kube/objects.ts'
import { makeService } from '../../builders.ts'

export const annotations = { id: 'equinix.com/loadbalancerID', location: 'equinix.com/loadbalancerMetro' }
export const finalizers = ['eip-admission.dev/balancer-cleanup']
export const names = balancerNames({ key: 'default/web', cluster: 'cluster-1', former: 'previous-name' })
export const address = '203.0.113.90'
export const worker = { node: 'worker-1', address: '198.51.100.11' }
export const other = { node: 'worker-2', address: '198.51.100.12' }

/** The balancer of default/web: port 80 with the pool `pool-80`, in da. */
export function makeBalancer(facts: Partial<Balancer> = {}): Balancer {
  return {
    id: 'loadbal-1',
    name: names.balancer,
    createdAt: '2026-01-31T09:00:00Z',
    location: 'da',
    addresses: [address],
    ports: [{ id: 'port-80', number: 80, pools: ['pool-80'] }],
    ...facts,
  }
}

/** A pool that is named after a port of default/web. */
export function makePool(port: number, id = `pool-${port}`, createdAt = '2026-01-31T09:00:00Z') {
  return { id, name: names.pool(port), createdAt }
}

/** default/web, served by its balancer in every respect. */
export function makeSeen(facts: Partial<BalancerSeen> = {}): BalancerSeen {
  return {
    service: makeService({
      finalizers,
      ports: [{ port: 80, nodePort: 30_080 }],
      annotations: { [annotations.id]: 'loadbal-1', [annotations.location]: 'da' },
      status: { loadBalancer: { ingress: [{ ip: address }] } },
    }),
    wanted: { kind: 'managed', location: 'da', warnings: [] },
    annotations,
    names,
    found: [makeBalancer()],
    foreign: undefined,
    pools: [makePool(80)],
    origins: new Map([['pool-80', [{ id: 'origin-1', address: worker.address, port: 30_080 }]]]),
    nodes: [worker],
    isInFlight: false,
    ...facts,
  }
}

type NodeFacts = {
  ready?: 'True' | 'False' | 'Unknown'
  labels?: Record<string, string>
  addresses?: NodeAddress[]
  taints?: string[]
  deletionTimestamp?: string
}

/** A ready node with one external address. */
export function makeNode(name: string, facts: NodeFacts = {}): Node {
  const { ready = 'True', labels = {}, addresses, taints = [], deletionTimestamp } = facts
  const number = Number(name.split('-').at(-1))
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoSchedule' })) },
    status: {
      addresses: addresses ?? [{ type: 'ExternalIP', address: `198.51.100.${10 + number}` }],
      conditions: [{ type: 'Ready', status: ready }],
    },
  }
}
