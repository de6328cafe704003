// How kube-vip reads a Service, and what it writes there.
import { isIPv4 } from 'node:net'
import type { Ingress, Service } from '../../kube/objects.ts'
import { type Release, type Source, rulesOf } from './kube-vip-releases.ts'

/** The addresses that kube-vip announces for a Service, as it is started for a DaemonSet. */
export function readService(service: Service | undefined, release: Release): string[] {
  if (!service || !isServed(service)) return []
  const found = rulesOf(release)
    .sources.map((source) => addressesFrom[source](service))
    .find((list) => list.length > 0)
  return found ?? []
}

function isServed({ metadata, spec }: Service): boolean {
  const { loadBalancerClass = ownClass } = spec
  const isIgnored = metadata.annotations?.['kube-vip.io/ignore'] === 'true'
  return spec.type === 'LoadBalancer' && !isIgnored && loadBalancerClass === ownClass
}

/** Whether kube-vip withdraws what it announces for a Service that is deleted in this state (0.8.10 and 1.2.3). */
export function isHeededOnDeletion({ metadata, spec }: Service): boolean {
  return spec.type === 'LoadBalancer' && metadata.annotations?.['kube-vip.io/ignore'] !== 'true'
}

const ownClass = 'kube-vip.io/kube-vip-class'

/** An empty annotation is a list of one name, which is empty. */
const addressesFrom: Record<Source, (service: Service) => string[]> = {
  annotation: ({ metadata }) => metadata.annotations?.['kube-vip.io/loadbalancerIPs']?.split(',') ?? [],
  status(service) {
    const shown = ingressOf(service).flatMap(({ ip }) => ip ?? [])
    const { loadBalancerIP } = service.spec
    const differs = loadBalancerIP !== undefined && shown.some((ip) => isIPv4(ip) === isIPv4(loadBalancerIP))
    return differs && !shown.includes(loadBalancerIP) ? [loadBalancerIP] : shown
  },
  spec: ({ spec }) => (spec.loadBalancerIP ? [spec.loadBalancerIP] : []),
}

/** The same Service after kube-vip wrote its status. */
export function shownBy(service: Service, release: Release): Service {
  const ports = portsOf(service)
  const ingress = readService(service, release).map((ip) => ({ ip, ipMode: 'VIP' as const, ports }))
  return { ...service, status: { loadBalancer: { ingress } } }
}

/** Whether kube-vip stops announcing a Service, to start again with it, because of what its status says. */
export function givesUp(service: Service, release: Release): boolean {
  const ingress = ingressOf(service)
  if (ingress.length === 0 || !rulesOf(release).comparesPorts) return false
  const wanted = JSON.stringify(portsOf(service))
  const lacks = readService(service, release).some((address) => ingress.every(({ ip }) => ip !== address))
  return lacks || ingress.some(({ ports = [] }) => JSON.stringify(ports) !== wanted)
}

type Port = { port: number; protocol: string }

function ingressOf({ status }: Pick<Service, 'status'>): (Ingress & { ports?: Port[] })[] {
  return status?.loadBalancer?.ingress ?? []
}

function portsOf({ spec }: Service): Port[] {
  return (spec.ports ?? []).map(({ port, protocol = 'TCP' }) => ({ port, protocol }))
}
