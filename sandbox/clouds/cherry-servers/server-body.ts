import { objectOf, textOf } from '../request-body.ts'
import { badRequest } from './errors.ts'
import { type Image, imageOf } from './images.ts'
import { readRegion, readTags } from './ip-body.ts'
import { type Plan, findPlan } from './plans.ts'
import type { Region } from './regions.ts'
import type { Installation, ServerOrder } from './servers.ts'
import type { Ip, Project, Server, State, Tags } from './state.ts'

/** Reads the body of `POST /projects/{id}/servers`. */
export function readServerOrder(state: State, project: Project, sent: unknown): ServerOrder {
  const body = objectOf(sent)
  const plan = readPlan(body)
  const region = readRegion(body)
  return {
    project,
    plan,
    region,
    ...(textOf(body['hostname']) && { hostname: textOf(body['hostname']) }),
    ...readImage(body['image']),
    ...readSshKeys(body['ssh_keys']),
    spot: body['spot_market'] === true || body['spot_instance'] === true,
    ...readTags(body['tags']),
    floatingIps: readFloatingIps(state, { project, region }, body['ip_addresses']),
  }
}

/** Reads the plan of an order or an upgrade; throws 400 if it is unknown. */
export function readPlan(sent: unknown): Plan {
  const plan = findPlan(objectOf(sent)['plan'])
  // The only error text of this call that is public.
  if (!plan) throw badRequest('Given server plan was not found.')
  return plan
}

/** Reads the body of the actions `rebuild` and `reinstall`. */
export function readInstallation(sent: unknown): Installation {
  const body = objectOf(sent)
  return {
    ...(textOf(body['hostname']) && { hostname: textOf(body['hostname']) }),
    ...(textOf(body['password']) && { password: textOf(body['password']) }),
    ...readImage(body['image']),
    ...readSshKeys(body['ssh_keys']),
  }
}

function readImage(sent: unknown): { image?: Image } {
  return textOf(sent) ? { image: imageOf(textOf(sent)) } : {}
}

/** Reads the ids of SSH keys, which some clients send as texts. */
function readSshKeys(sent: unknown): { sshKeys?: number[] } {
  return Array.isArray(sent) ? { sshKeys: sent.map(Number) } : {}
}

/** Reads the ids of the floating IPs that a new server gets. */
function readFloatingIps({ ips }: State, of: { project: Project; region: Region }, sent: unknown): Ip[] {
  if (!Array.isArray(sent)) return []
  return sent.map((id) => {
    const ip = ips.get(textOf(id))
    if (!ip || ip.isDeleting || ip.type !== 'floating-ip' || ip.project !== of.project)
      throw badRequest('Given IP address was not found.')
    if (ip.region !== of.region) throw badRequest('The IP address must be in the region of the server.')
    return ip
  })
}

export type ServerChange = { names: Partial<Pick<Server, 'name' | 'hostname'>>; tags?: Tags; bgp?: boolean }

/** Reads the body of `PUT /servers/{id}`, in which every field is optional. */
export function readServerChange(sent: unknown): ServerChange {
  const body = objectOf(sent)
  const { name, hostname } = body
  return {
    names: { ...(typeof name === 'string' && { name }), ...(typeof hostname === 'string' && { hostname }) },
    ...readTags(body['tags']),
    ...readBgp(body['bgp']),
  }
}

/** Reads `bgp`, which a client sets as true or false; answers show it as an object. */
export function readBgp(sent: unknown): { bgp?: boolean } {
  if (sent === undefined || sent === null) return {}
  if (typeof sent !== 'boolean') throw badRequest('bgp must be true or false.')
  return { bgp: sent }
}
