import { equinixMetal, type EquinixMetalOptions } from '../../../clouds/equinix-metal.ts'

export const apiKey = 'metal-5ecret-key'
export const projectId = '0b9c6f1e-6c1d-4d0e-8f55-0a3c5a1b2c3d'
export const ips = `/projects/${projectId}/ips`

/** The client under test, impatient enough for one. */
export function metalAt(baseUrl: string, more: Partial<EquinixMetalOptions> = {}) {
  return equinixMetal({
    apiKey: { reveal: () => apiKey },
    projectId,
    baseUrl,
    userAgent: 'eip-admission/test',
    retryDelayMs: 5,
    ...more,
  })
}

export const dallas = { id: 'd3d6b29f-042d-43b7-b3ce-0bf53d5754ca', name: 'Dallas', code: 'da', country: 'US' }

/** A reservation as the API sends it, with what it always adds. */
export function metalReservation(changes: Record<string, unknown> = {}) {
  const address = '203.0.113.40'
  return {
    id: '7a1d6a0e-4a51-4d7b-9a5b-2f4b4f1f0c11',
    type: 'public_ipv4',
    state: 'created',
    address_family: 4,
    address,
    network: address,
    gateway: address,
    netmask: '255.255.255.255',
    cidr: 32,
    public: true,
    management: false,
    details: null,
    customdata: {},
    tags: ['usage=u', 'service=s==', 'cluster=c'],
    created_at: '2026-01-31T09:15:04Z',
    assignments: [],
    facility: null,
    metro: dallas,
    href: '/metal/v1/ips/7a1d6a0e-4a51-4d7b-9a5b-2f4b4f1f0c11',
    ...changes,
  }
}

/** The same reservation as this project says it. */
export const reserved = {
  id: '7a1d6a0e-4a51-4d7b-9a5b-2f4b4f1f0c11',
  address: '203.0.113.40',
  state: 'reserved',
  location: 'da',
  marks: { usage: 'u', service: 's==', cluster: 'c' },
  createdAt: '2026-01-31T09:15:04Z',
}
