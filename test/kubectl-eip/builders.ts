import type { KubeEvent, Service } from '../../kube/objects.ts'
import type { PossibleUsers } from '../../ledger/record/address-use.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'

export const address = '203.0.113.40'

/** Everybody who could use an address. */
export function users(records: ElasticIP[], services: Service[] = []): PossibleUsers {
  return { records, services, requestAnnotations: [] }
}

/** A Service's status that shows an address. */
export function shows(ip: string): NonNullable<Service['status']> {
  return { loadBalancer: { ingress: [{ ip }] } }
}

/** An Event about Service default/web. */
export function makeEvent(facts: Partial<KubeEvent> & { annotations?: Record<string, string> } = {}): KubeEvent {
  const { annotations, ...fields } = facts
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: 'default', ...(annotations && { annotations }) },
    involvedObject: { apiVersion: 'v1', kind: 'Service', name: 'web', namespace: 'default' },
    type: 'Normal',
    reason: 'EnsuredLoadBalancer',
    message: 'Ensured load balancer',
    count: 1,
    firstTimestamp: '2026-01-31T09:00:05Z',
    lastTimestamp: '2026-01-31T09:00:05Z',
    source: { component: 'service-controller' },
    reportingComponent: '',
    reportingInstance: '',
    ...fields,
  }
}
