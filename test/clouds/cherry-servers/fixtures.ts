import { cherryServers } from '../../../clouds/cherry-servers/client.ts'
import type { ClientOptions } from '../../../clouds/http/client.ts'

export const apiKey = 'cherry-5ecret-key'
export const projectId = '218450'
export const ips = `/v1/projects/${projectId}/ips`
export const servers = `/v1/projects/${projectId}/servers`

/** The client under test, impatient enough for one. */
export function cherryAt(baseUrl: string, more: Partial<ClientOptions & { projectId: string }> = {}) {
  return cherryServers({
    apiKey: { reveal: () => apiKey },
    projectId,
    baseUrl,
    userAgent: 'eip-admission/test',
    retryDelayMs: 5,
    rate: { calls: 1000, perMs: 1000 },
    ...more,
  })
}

export const lithuania = {
  id: 1,
  name: 'Lithuania',
  slug: 'LT-Siauliai',
  region_iso_2: 'LT',
  href: '/regions/1',
  bgp: { hosts: ['46.166.166.123', '46.166.166.122'], asn: 16125 },
  location: 'Lithuania, Šiauliai',
}

export const project = { id: 218450, name: 'edge', bgp: { enabled: true, local_asn: 64667 }, href: '/projects/218450' }

/** A floating IP as the API sends it, with what it always adds. */
export function cherryIp(changes: Record<string, unknown> = {}) {
  return {
    id: '5b3c8f0e-1f0a-4a3b-9a53-2f6d1f0c9a77',
    address: '203.0.113.50',
    address_family: 4,
    cidr: '203.0.113.50/32',
    type: 'floating-ip',
    region: lithuania,
    ddos_scrubbing: false,
    tags: { usage: 'u', service: 's==', cluster: 'c' },
    project,
    href: '/ips/5b3c8f0e-1f0a-4a3b-9a53-2f6d1f0c9a77',
    ...changes,
  }
}

/** The same address as this project says it, but for when it was first seen. */
export const reserved = {
  id: '5b3c8f0e-1f0a-4a3b-9a53-2f6d1f0c9a77',
  address: '203.0.113.50',
  state: 'reserved',
  location: 'LT-Siauliai',
  marks: { usage: 'u', service: 's==', cluster: 'c' },
}

export const serverSecrets = ['vps-pa55word', 'bmc-pa55word', 'bmc-us3r', '10.99.0.77']

/** A server as the API sends it, with secrets that it holds and we never want. */
export function cherryServer(changes: Record<string, unknown> = {}) {
  const secrets = {
    username: 'root',
    password: serverSecrets[0],
    bmc: { password: serverSecrets[1], user: serverSecrets[2], ip: serverSecrets[3] },
  }
  return {
    id: 640117,
    name: 'Cloud VPS 4',
    href: '/servers/640117',
    hostname: 'k8s-cp-1',
    image: 'Ubuntu 24.04 64bit',
    region: lithuania,
    state: 'active',
    status: 'deployed',
    bgp: { enabled: true, available: true, status: 'Established', routers: 2, connected: 2, limit: 3, active: 2 },
    plan: { id: 1012, slug: 'B1-4-4gb-80s-shared', type: 'vps' },
    ...secrets,
    ip_addresses: [
      ownIp('198.51.100.10', 'primary-ip', { cidr: '198.51.100.0/26', assigned_to: { id: 640117, ...secrets } }),
      ownIp('10.179.192.2', 'private-ip', { cidr: '10.179.192.0/24' }),
    ],
    tags: { env: 'prod' },
    project,
    ...changes,
  }
}

/** An address of a server as the API sends it. */
export function ownIp(address: string, type: string, changes: Record<string, unknown> = {}) {
  return { id: `of ${address}`, address, address_family: 4, cidr: `${address}/32`, type, tags: {}, ...changes }
}

/** The same server as its list says it. */
export const listed = {
  id: '640117',
  name: 'k8s-cp-1',
  state: 'unknown',
  type: 'B1-4-4gb-80s-shared',
  region: 'LT-Siauliai',
  zone: undefined,
  addresses: [
    { address: '198.51.100.10', isPublic: true, isElastic: false },
    { address: '10.179.192.2', isPublic: false, isElastic: false },
  ],
  privateNetwork: '10.179.192.0/24',
}

/** Whom it speaks with. */
export const peers = ['46.166.166.122', '46.166.166.123'].map((peerAddress) => ({
  localAsn: 64667,
  peerAsn: 16125,
  peerAddress,
  sourceAddress: '198.51.100.10',
  isMultihop: true,
  password: undefined,
}))
