import { objectOf } from '../request-body.ts'
import { badRequest, notFound, refused } from './errors.ts'
import { type Region, findRegion } from './regions.ts'
import type { Ip, Project, Server, State, Tags } from './state.ts'

/** The change of an address that a body requests; a field that is absent or null stays as it is. */
export type IpChange = { target?: Server | 'none'; tags?: Tags; ptrRecord?: string; aRecord?: string }

/** Reads the region of an order; throws 400 if it is unknown. */
export function readRegion(sent: unknown): Region {
  const region = findRegion(objectOf(sent)['region'])
  if (!region) throw badRequest('Given region was not found.')
  return region
}

/** Reads an order or a change. If any part is invalid, throws before anything changes. */
export function readIpChange(state: State, sent: unknown, of: { project: Project; region: Region; ip?: Ip }): IpChange {
  const body = objectOf(sent)
  const target = readTarget(state, body)
  if (target && of.ip && of.ip.type !== 'floating-ip') throw badRequest('Only floating IP addresses can be targeted.')
  if (target && target !== 'none' && (target.project !== of.project || target.region !== of.region))
    throw badRequest('The target must be in the project and region of the IP address.')
  return {
    ...(target && { target }),
    ...readTags(body['tags']),
    ...readPtrRecord(state, body['ptr_record'], of.ip),
    ...readARecord(state, body['a_record'], of.ip),
  }
}

/** Reads the target server: its id as a number or text, 0 for none, or the id of its primary address. */
function readTarget(state: State, body: Record<string, unknown>): Server | 'none' | undefined {
  const target = isGiven(body['targeted_to']) ? serverFor(state, String(body['targeted_to'])) : undefined
  const route = isGiven(body['routed_to']) ? serverBehind(state, String(body['routed_to'])) : undefined
  if (route && target && target !== 'none' && target !== route)
    throw badRequest('Either routed_to or targeted_to can be given.')
  return route ?? target
}

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== ''

function serverFor({ servers, behaviour }: State, id: string): Server | 'none' {
  if (id === '0') return 'none'
  const server = servers.get(Number(id))
  if (server) return server
  throw refused(Number(behaviour.unknownTarget), 'Target server was not found.')
}

function serverBehind({ ips }: State, id: string): Server {
  const route = ips.get(id)
  if (!route) throw notFound()
  if (route.type === 'primary-ip' && route.server) return route.server
  throw badRequest('A floating IP address can be routed to a primary one alone.')
}

/** Reads tags, a map of texts; a body with tags replaces all of them. */
export function readTags(sent: unknown): { tags?: Tags } {
  if (sent === undefined || sent === null) return {}
  const isMap = typeof sent === 'object' && !Array.isArray(sent)
  if (!isMap || !Object.values(sent).every((value) => typeof value === 'string'))
    throw badRequest('tags must be a map of strings.')
  return { tags: { ...sent } }
}

function readPtrRecord(state: State, sent: unknown, ip: Ip | undefined): { ptrRecord?: string } {
  if (typeof sent !== 'string') return {}
  const ptrRecord = sent === '' ? '' : `${sent.replace(/\.$/, '')}.`
  if (ptrRecord !== '' && ptrRecord === ip?.ptrRecord && state.behaviour.samePtrRecord === '500') throw refused(500)
  return { ptrRecord }
}

function readARecord({ ips }: State, sent: unknown, ip: Ip | undefined): { aRecord?: string } {
  if (typeof sent !== 'string') return {}
  const label = sent.replace(/\.cloud\.cherryservers\.net\.?$/, '')
  const aRecord = label === '' ? '' : `${label}.cloud.cherryservers.net.`
  const isTaken = [...ips.values()].some((other) => other !== ip && aRecord !== '' && other.aRecord === aRecord)
  if (isTaken) throw badRequest('The A record is taken.')
  return { aRecord }
}
