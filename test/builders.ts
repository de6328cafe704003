import type { Reservation } from '../clouds/ports/cloud.ts'
import type { Service } from '../kube/objects.ts'
import type { ElasticIP, ElasticIPStatus } from '../ledger/record/elastic-ip.ts'
import type { Policy } from '../settings/service-policy.ts'

type ServiceFacts = Partial<Service['metadata']> & Partial<Service['spec']> & { status?: Service['status'] }

/** The LoadBalancer Service default/web with one port, changed by the given facts. */
export function makeService(facts: ServiceFacts = {}): Service {
  const { type, clusterIP, loadBalancerIP, loadBalancerClass, ports, ipFamilies, ipFamilyPolicy, ...others } = facts
  const { clusterIPs, status, ...metadata } = others
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web', uid: 'uid-1', resourceVersion: '1', ...metadata },
    spec: {
      type: type ?? 'LoadBalancer',
      ports: ports ?? [{ port: 80 }],
      ...(clusterIP === undefined ? {} : { clusterIP }),
      ...(clusterIPs === undefined ? {} : { clusterIPs }),
      ...(ipFamilies === undefined ? {} : { ipFamilies }),
      ...(ipFamilyPolicy === undefined ? {} : { ipFamilyPolicy }),
      ...(loadBalancerIP === undefined ? {} : { loadBalancerIP }),
      ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
    },
    ...(status ? { status } : {}),
  }
}

/** The record of default/web in da with this status. */
export function makeRecord(status?: ElasticIPStatus, facts: Partial<ElasticIP['spec']> = {}): ElasticIP {
  return {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: {
      name: 'default.web',
      uid: 'record-1',
      resourceVersion: '1',
      creationTimestamp: '2026-01-31T09:00:00Z',
      finalizers: ['eip-admission.dev/reservation-cleanup'],
    },
    spec: { claimRef: { namespace: 'default', name: 'web' }, location: 'da', reclaimPolicy: 'Delete', ...facts },
    ...(status ? { status } : {}),
  }
}

export function makeReservation(facts: Partial<Reservation> = {}): Reservation {
  return {
    id: 'res-1',
    address: '203.0.113.40',
    state: 'reserved',
    location: 'da',
    marks: {},
    createdAt: '2026-01-31T08:00:00Z',
    ...facts,
  }
}

export const metros = [
  { code: 'da', name: 'Dallas', kind: 'metro' },
  { code: 'sv', name: 'Silicon Valley', kind: 'metro' },
]

/** The policy of a cluster on Equinix Metal whose settings name a metro, a facility, both or none. */
export function makePolicy({ metro, facility }: { metro?: string; facility?: string }): Policy {
  return {
    loadBalancing: true,
    excludedNamespaces: [],
    classes: ['none'],
    controlPlaneService: 'kube-system/cloud-provider-equinix-metal-kubernetes-external',
    locationSources: [
      { kind: 'setting', word: 'facility', name: 'METAL_FACILITY_NAME', value: facility },
      { kind: 'setting', word: 'metro', name: 'METAL_METRO_NAME', value: metro },
      { kind: 'annotation', word: 'facility', name: 'metal.equinix.com/eip-facility' },
      { kind: 'annotation', word: 'metro', name: 'metal.equinix.com/eip-metro' },
    ],
    annotations: {
      known: ['metal.equinix.com/eip-facility', 'metal.equinix.com/eip-metro'],
      prefixes: ['metal.equinix.com/'],
    },
    requestAnnotations: { annotations: ['metallb.io/loadBalancerIPs'], besideSpec: false },
    families: ['ipv4'],
    matchesFamilies: true,
    isDualStack: false,
    reclaimPolicy: 'Delete',
    allowRetain: true,
  }
}

/** A provisioned ElasticIP as an operator writes it. */
export function makeLot(name: string, spec: ElasticIP['spec'], status?: ElasticIPStatus): ElasticIP {
  return {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name },
    spec,
    ...(status ? { status } : {}),
  }
}
