import type { Service } from '../../kube/objects.ts'
import { shownIn } from './stored.ts'
import { eventually } from './eventually.ts'
import type { TestStage } from './test-stage.ts'

export const balancerId = 'equinix.com/loadbalancerID'
export const balancerMetro = 'equinix.com/loadbalancerMetro'
export const balancerFinalizer = 'eip-admission.dev/balancer-cleanup'
export const balancerRequest = 'eip-admission.dev/balancer-request'

/** The calls of the API of load balancers, as the simulated cloud logs them. */
export const balancerRoutes = {
  exchange: 'POST /iam/api-keys/exchange',
  list: 'GET /lb/v1/projects/{id}/loadbalancers',
  create: 'POST /lb/v1/projects/{id}/loadbalancers',
  remove: 'DELETE /lb/v1/loadbalancers/{id}',
  addPool: 'POST /lb/v1/projects/{id}/loadbalancers/pools',
  removePool: 'DELETE /lb/v1/loadbalancers/pools/{id}',
  addPort: 'POST /lb/v1/loadbalancers/{id}/ports',
  removePort: 'DELETE /lb/v1/loadbalancers/ports/{id}',
  origins: 'GET /lb/v1/loadbalancers/pools/{id}/origins',
  addOrigin: 'POST /lb/v1/loadbalancers/pools/{id}/origins',
  removeOrigin: 'DELETE /lb/v1/loadbalancers/pools/origins/{id}',
} as const

/** A balancer of the simulated cloud: its addresses, and the targets of each port. */
export type BalancerView = { id: string; name: string; ips: string[]; ports: Record<number, string[]> }

type Shown = { id: string; name: string; ips?: string[]; ports: { number: number }[]; pools: { id: string }[][] }
type ShownPool = { id: string; origins: { target: string; port_number: number }[] }

/** Every balancer of the simulated cloud. */
export function balancersOf({ cloud }: Pick<TestStage<'equinix-metal'>, 'cloud'>): BalancerView[] {
  const { balancers } = cloud.control
  const pools = new Map((balancers.pools() as unknown as ShownPool[]).map((pool) => [pool.id, pool.origins]))
  const targets = (id: string) => (pools.get(id) ?? []).map((one) => `${one.target}:${one.port_number}`)
  return (balancers.all() as unknown as Shown[]).map(({ id, name, ips = [], ports, pools: attached }) => ({
    id,
    name,
    ips,
    ports: Object.fromEntries(
      ports.map(({ number }, n) => [number, (attached[n] ?? []).flatMap((pool) => targets(pool.id)).toSorted()]),
    ),
  }))
}

/** The targets that a Service should have: for each of its ports, every one of these addresses with the node port. */
export function wantedPorts(service: Service, addresses: string[]): Record<number, string[]> {
  const ports = (service.spec.ports ?? []).map(({ port, nodePort }) => [
    port,
    addresses.map((address) => `${address}:${nodePort}`).toSorted(),
  ])
  return Object.fromEntries(ports) as Record<number, string[]>
}

/** Waits until a Service shows its balancer, whose ports send to these addresses; returns the balancer. */
export function balanced(stage: TestStage<'equinix-metal'>, name: string, addresses: string[]): Promise<BalancerView> {
  return eventually(`${name} is served by its balancer`, async (observe) => {
    const [service, all] = observe([await stage.service(name), balancersOf(stage)] as const)
    const id = service?.metadata.annotations?.[balancerId]
    const balancer = all.find((one) => one.id === id)
    if (!service || !balancer || balancer.ips[0] === undefined || shownIn(service) !== balancer.ips[0]) return undefined
    if (service.metadata.annotations?.[balancerRequest] !== undefined) return undefined
    const wanted = wantedPorts(service, addresses)
    return JSON.stringify(balancer.ports) === JSON.stringify(wanted) ? balancer : undefined
  })
}
