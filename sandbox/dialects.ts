import { randomBytes, randomUUID } from 'node:crypto'
import { startCherryServers } from './clouds/cherry-servers/server.ts'
import type { Json } from './clouds/control.ts'
import { type EquinixMetal, startEquinixMetal } from './clouds/equinix-metal/server.ts'

/** What the product is told of an account: where the API is, whose project, and the token that opens it. */
export type Access = { url: string; project: string; token: string }

/** A cluster of each dialect as a stage needs it. */
export const dialects = {
  'equinix-metal': {
    cloudName: 'Equinix Metal',
    /** The value of `--cloud-provider`. */
    provider: 'equinixmetal',
    env: ({ project, token }: Access) => ({
      METAL_API_KEY: token,
      METAL_PROJECT_ID: project,
      METAL_LOAD_BALANCER: 'empty://',
    }),
    open: openEquinixMetal,
    /** Where addresses come from unless a Service says otherwise. */
    here: { METAL_METRO_NAME: 'da' },
    isOrdered: ({ type, management }: Json) => type === 'public_ipv4' && management !== true,
  },
  packet: {
    cloudName: 'Packet',
    provider: 'packet',
    env: ({ project, token }: Access) => ({
      PACKET_API_KEY: token,
      PACKET_PROJECT_ID: project,
      // Inside the cloud its metadata service would tell.
      PACKET_FACILITY_NAME: 'da11',
    }),
    open: openEquinixMetal,
    here: {},
    isOrdered: ({ type, management }: Json) => type === 'public_ipv4' && management !== true,
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
    here: { CHERRY_REGION_NAME: 'LT-Siauliai' },
    isOrdered: ({ type }: Json) => type === 'floating-ip',
  },
} as const

export type DialectName = keyof typeof dialects
export type CloudOf<D extends DialectName> = Awaited<ReturnType<(typeof dialects)[D]['open']>>['cloud']

/** A dialect by its name; throws with those that there are. */
export function dialectNamed(name: string): DialectName {
  if (Object.hasOwn(dialects, name)) return name as DialectName
  throw new Error(`cloud "${name}": expected one of ${Object.keys(dialects).join(', ')}`)
}

/** Beside the key that may do all there is one that may only read, where it is named. */
type Opening = { readOnly?: string }

async function openEquinixMetal({ readOnly }: Opening = {}) {
  const project = randomUUID()
  const token = newToken()
  const tokens = tokensFor(project, token, readOnly)
  const cloud: EquinixMetal = await startEquinixMetal({ projects: [{ id: project }], tokens })
  return { cloud, project, token }
}

async function openCherryServers({ readOnly }: Opening = {}) {
  const id = 218_450
  const token = newToken()
  const tokens = tokensFor(id, token, readOnly)
  const callLimit = { calls: 4, perMs: 1000 }
  return { cloud: await startCherryServers({ projects: [{ id }], tokens, callLimit }), project: String(id), token }
}

function tokensFor<Id>(project: Id, token: string, readOnly: string | undefined) {
  const projects = [project]
  const owner = { token, label: 'sandbox', projects }
  return readOnly === undefined ? [owner] : [owner, { token: readOnly, label: 'reader', projects, readOnly: true }]
}

function newToken(): string {
  return randomBytes(16).toString('hex')
}
