import type { ResourceQuota, Service } from '../../kube/objects.ts'

/** How much of each resource of a ResourceQuota a request uses, by the API server's rules. */
export type QuotaUse = Readonly<Record<string, number>>

/** What the API server counts when a LoadBalancer Service is created, or when another type becomes one. */
export function quotaUse({ spec }: Service, old: Service | null): QuotaUse {
  if (old?.spec.type === 'LoadBalancer') return {}
  const ports = spec.ports ?? []
  // Without automatic node ports only those count that the user wrote.
  const nodePorts = spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort) : ports
  const withNodePorts = old?.spec.type === 'NodePort' ? 0 : nodePorts.length
  const ofType = { 'services.loadbalancers': 1, 'services.nodeports': withNodePorts }
  return old ? ofType : { ...ofType, services: 1, 'count/services': 1 }
}

/**
 * Why a ResourceQuota will refuse a Service a moment after us: to reserve its address would be to buy for nobody.
 * `waiting` are Services of the namespace that were admitted, and that no quota counts yet. Undefined if none will, or if
 * a quota cannot be judged: the API server decides then.
 */
export function quotaReason(quotas: readonly ResourceQuota[], use: QuotaUse, waiting: number): string | undefined {
  for (const { metadata, status } of quotas) {
    for (const [resource, amount] of Object.entries(use)) {
      const [hard = '', used = ''] = [status?.hard?.[resource], status?.used?.[resource]]
      // Comparisons with NaN are false.
      if (amount === 0 || !(amountOf(used) + amount * (waiting + 1) > amountOf(hard))) continue
      const others = waiting > 0 ? `, and ${waiting} more Services wait for their addresses` : ''
      return `ResourceQuota ${metadata.name} limits ${resource} to ${hard}, of which ${used} are used${others}`
    }
  }
  return undefined
}

/** The number that a quantity of Kubernetes means, as far as people write such for Services; else NaN. */
function amountOf(quantity: string): number {
  const [, digits = '', suffix = ''] = /^(\d+)(k?)$/.exec(quantity) ?? []
  return digits === '' ? NaN : Number(digits) * (suffix === 'k' ? 1000 : 1)
}
