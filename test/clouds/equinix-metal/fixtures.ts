import { equinixMetal } from '../../../clouds/equinix-metal/client.ts'

export const apiKey = 'metal-5ecret-key'
export const projectId = '0b9c6f1e-6c1d-4d0e-8f55-0a3c5a1b2c3d'
export const ips = `/projects/${projectId}/ips`

/** The client under test, impatient enough for one. */
export function metalAt(baseUrl: string, more: Partial<Parameters<typeof equinixMetal>[0]> = {}) {
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

/** A device as the API sends it, with secrets that it holds and we never want. */
export function metalDevice(changes: Record<string, unknown> = {}) {
  return {
    id: '3d1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711',
    hostname: 'prod-cp-0',
    state: 'active',
    tags: ['k8s'],
    root_password: deviceSecrets[0],
    iqn: deviceSecrets[1],
    customdata: { token: deviceSecrets[2] },
    ssh_keys: [{ key: deviceSecrets[3] }],
    plan: { slug: 'c3.small.x86' },
    metro: dallas,
    facility: { code: 'da11', metro: dallas },
    ip_addresses: [
      metalAssignment('198.51.100.11', { public: true }),
      metalAssignment('2001:0db8:45d1:fd00:0000:0000:0000:0011', { public: true, address_family: 6 }),
      metalAssignment('10.66.142.17', {
        parent_block: { network: '10.66.142.0', netmask: '255.255.255.128', cidr: 25, href: '/metal/v1/ips/x' },
      }),
    ],
    href: '/metal/v1/devices/3d1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711',
    ...changes,
  }
}

export const deviceSecrets = ['r00t-pass', 'iqn.2026-01.net.packet:device', 'cust0m-token', 'ssh-ed25519 AAAA']

/** An address of a device as the API sends it: private and the device's own unless changed. */
export function metalAssignment(address: string, changes: Record<string, unknown> = {}) {
  const block = { address_family: 4, cidr: 31, public: false, management: true }
  return { id: `of ${address}`, address, ...block, parent_block: { href: '/metal/v1/ips/y' }, ...changes }
}

/** The same device as this project says it. */
export const machine = {
  id: '3d1f7f0a-8a6f-4a3c-b7a4-52c0d9e8f711',
  name: 'prod-cp-0',
  state: 'on',
  type: 'c3.small.x86',
  region: 'da',
  zone: undefined,
  addresses: [
    { address: '198.51.100.11', isPublic: true, isElastic: false },
    { address: '2001:db8:45d1:fd00::11', isPublic: true, isElastic: false },
    { address: '10.66.142.17', isPublic: false, isElastic: false },
  ],
  privateNetwork: '10.66.142.0/25',
}

/** A BGP neighbor of a device as the API sends it. */
export function metalNeighbor(changes: Record<string, unknown> = {}) {
  return {
    address_family: 4,
    customer_as: 65000,
    customer_ip: '10.66.142.17',
    md5_enabled: false,
    md5_password: null,
    multihop: true,
    peer_as: 65530,
    peer_ips: ['169.254.255.1', '169.254.255.2'],
    routes_in: [{ route: '203.0.113.40/32', exact: true }],
    routes_out: [],
    ...changes,
  }
}

/** The peers in it as this project says them. */
export const peers = ['169.254.255.1', '169.254.255.2'].map((peerAddress) => ({
  localAsn: 65000,
  peerAsn: 65530,
  peerAddress,
  sourceAddress: '10.66.142.17',
  isMultihop: true,
  password: undefined,
}))
