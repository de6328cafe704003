import { randomBytes, randomUUID } from 'node:crypto'
import { cherryServersHosts, startCherryServers } from './clouds/cherry-servers/server.ts'
import type { Json } from './clouds/control.ts'
import { type EquinixMetal, equinixMetalHosts, startEquinixMetal } from './clouds/equinix-metal/server.ts'
import { hetznerHosts, startHetzner } from './clouds/hetzner/server.ts'
import { phoenixnapHosts, startPhoenixnap } from './clouds/phoenixnap/server.ts'
import { scalewayHosts, startScaleway } from './clouds/scaleway/server.ts'
import type { DialectName } from './dialect-names.ts'

/** The access to an account that the product is configured with: the URL of the API, the project and its token. */
export type Access = { url: string; project: string; token: string }

/**
 * For each dialect: how to configure the product, and how to start the simulated cloud. `vendorHosts` are the host names
 * by which other clients call the vendor.
 */
export const dialects = {
  'equinix-metal': {
    cloudName: 'Equinix Metal',
    /** The value of `--cloud-provider`. */
    provider: 'equinixmetal',
    env: ({ url, project, token }: Access) => ({
      METAL_API_KEY: token,
      METAL_PROJECT_ID: project,
      METAL_LOAD_BALANCER: 'empty://',
      EIP_LOAD_BALANCER_API_URL: `${url}/lb`,
      EIP_TOKEN_EXCHANGE_URL: `${url}/iam`,
    }),
    open: openEquinixMetal,
    /** The setting for the location of addresses; a Service can request another one. */
    defaultLocation: { METAL_METRO_NAME: 'da' },
    isOrdered: ({ type, management }: Json) => type === 'public_ipv4' && management !== true,
    vendorHosts: equinixMetalHosts,
  },
  packet: {
    cloudName: 'Packet',
    provider: 'packet',
    env: ({ project, token }: Access) => ({
      PACKET_API_KEY: token,
      PACKET_PROJECT_ID: project,
      // On a real machine the cloud's metadata service provides it.
      PACKET_FACILITY_NAME: 'da11',
    }),
    open: openEquinixMetal,
    defaultLocation: {},
    isOrdered: ({ type, management }: Json) => type === 'public_ipv4' && management !== true,
    vendorHosts: equinixMetalHosts,
  },
  'cherry-servers': {
    cloudName: 'Cherry Servers',
    provider: 'cherryservers',
    env: ({ project, token }: Access) => ({
      CHERRY_API_KEY: token,
      CHERRY_PROJECT_ID: project,
      CHERRY_LOAD_BALANCER: 'empty://',
    }),
    open: openCherryServers,
    defaultLocation: { CHERRY_REGION_NAME: 'LT-Siauliai' },
    isOrdered: ({ type }: Json) => type === 'floating-ip',
    vendorHosts: cherryServersHosts,
  },
  hetzner: {
    cloudName: 'Hetzner Cloud',
    provider: 'hetzner',
    env: ({ token }: Access) => ({ HCLOUD_TOKEN: token, HCLOUD_LOAD_BALANCER: 'empty://' }),
    open: openHetzner,
    defaultLocation: { HCLOUD_LOCATION: 'fsn1' },
    isOrdered: () => true,
    vendorHosts: hetznerHosts,
  },
  scaleway: {
    cloudName: 'Scaleway',
    provider: 'scaleway',
    env: ({ project, token }: Access) => ({
      SCW_SECRET_KEY: token,
      SCW_DEFAULT_PROJECT_ID: project,
      SCW_DEFAULT_ZONE: 'fr-par-1',
      SCW_LOAD_BALANCER: 'empty://',
    }),
    open: openScaleway,
    defaultLocation: {},
    isOrdered: () => true,
    vendorHosts: scalewayHosts,
  },
  phoenixnap: {
    cloudName: 'phoenixNAP',
    provider: 'phoenixnap',
    env: ({ url, project, token }: Access) => ({
      PNAP_CLIENT_ID: project,
      PNAP_CLIENT_SECRET: token,
      PNAP_AUTH_URL: url,
      PNAP_LOCATION: 'PHX',
      PNAP_LOAD_BALANCER: 'empty://',
      PNAP_CREATE_PEER_GROUP: 'true',
    }),
    open: openPhoenixnap,
    defaultLocation: {},
    isOrdered: ({ cidrBlockSize: size, isSystemManaged }: Json) => size === '/31' && isSystemManaged !== true,
    vendorHosts: phoenixnapHosts,
  },
} as const satisfies Record<DialectName, object>

export type { DialectName }
export type CloudOf<D extends DialectName> = Awaited<ReturnType<(typeof dialects)[D]['open']>>['cloud']

/** Returns the name as a dialect name; throws with the known names if it is none. */
export function dialectNamed(name: string): DialectName {
  if (Object.hasOwn(dialects, name)) return name as DialectName
  throw new Error(`cloud "${name}": expected one of ${Object.keys(dialects).join(', ')}`)
}

/** `readOnly` is a second token that may only read; `other` is another account. There is none when absent. */
type OpenOptions = { readOnly?: string; other?: { project: string; token: string } }

async function openEquinixMetal({ readOnly, other }: OpenOptions = {}) {
  const project = randomUUID()
  const token = newToken()
  const tokens = tokensFor(project, token, readOnly)
  const others = other ? [{ id: other.project, token: other.token }] : []
  const cloud: EquinixMetal = await startEquinixMetal({
    projects: [{ id: project }, ...others.map(({ id }) => ({ id }))],
    tokens: [...tokens, ...others.map(tokenOfOther)],
  })
  return { cloud, project, token }
}

async function openCherryServers({ readOnly, other }: OpenOptions = {}) {
  const id = 218_450
  const token = newToken()
  const tokens = tokensFor(id, token, readOnly)
  const callLimit = { calls: 4, perMs: 1000 }
  const others = other ? [{ id: Number(other.project), token: other.token }] : []
  const cloud = await startCherryServers({
    projects: [{ id }, ...others.map((one) => ({ id: one.id }))],
    tokens: [...tokens, ...others.map(tokenOfOther)],
    callLimit,
  })
  return { cloud, project: String(id), token }
}

async function openHetzner({ readOnly, other }: OpenOptions = {}) {
  const token = newToken()
  const others = other ? [{ id: Number(other.project), token: other.token }] : []
  const tokens = [...tokensFor(1, token, readOnly), ...others.map(tokenOfOther)]
  // A new project may have ten; the examples and tests need more.
  const cloud = await startHetzner({ tokens, quota: 200, actionMs: 300 })
  return { cloud, project: '1', token }
}

async function openScaleway({ readOnly, other }: OpenOptions = {}) {
  const project = randomUUID()
  // The vendor's clients refuse any other secret key.
  const token = randomUUID()
  const others = other ? [{ id: other.project, token: other.token }] : []
  const tokens = [...tokensFor(project, token, readOnly), ...others.map(tokenOfOther)]
  // The vendor takes five seconds for each change of an address; the examples and tests need more addresses.
  const cloud = await startScaleway({ tokens, quota: 200, changeMs: 300 })
  return { cloud, project, token }
}

async function openPhoenixnap({ readOnly, other }: OpenOptions = {}) {
  const project = randomUUID()
  const token = newToken()
  const others = other ? [{ id: other.project, token: other.token }] : []
  const tokens = [...tokensFor(project, token, readOnly), ...others.map(tokenOfOther)]
  const cloud = await startPhoenixnap({ tokens, quota: 200, changeMs: 300 })
  return { cloud, project, token }
}

function tokenOfOther<Id>({ id, token }: { id: Id; token: string }) {
  return { token, label: 'other', projects: [id] }
}

function tokensFor<Id>(project: Id, token: string, readOnly: string | undefined) {
  const projects = [project]
  const owner = { token, label: 'sandbox', projects }
  return readOnly === undefined ? [owner] : [owner, { token: readOnly, label: 'reader', projects, readOnly: true }]
}

/** The vendors' clients refuse a token of another form: Hetzner's Terraform provider wants 64 characters. */
function newToken(): string {
  return randomBytes(32).toString('hex')
}
