import { objectOf, textOf } from '../request-body.ts'
import { badRequest } from './errors.ts'
import { readRegion, readTags } from './ip-body.ts'
import { findPlan } from './plans.ts'
import type { ServerOrder } from './servers.ts'
import type { Project, Server, Tags } from './state.ts'

/** Reads the body of `POST /projects/{id}/servers`. */
export function readServerOrder(project: Project, sent: unknown): ServerOrder {
  const body = objectOf(sent)
  const plan = findPlan(body['plan'])
  // The only error text of this call that is public.
  if (!plan) throw badRequest('Given server plan was not found.')
  const keys = body['ssh_keys']
  return {
    project,
    plan,
    region: readRegion(body),
    ...(textOf(body['hostname']) && { hostname: textOf(body['hostname']) }),
    ...(textOf(body['image']) && { image: textOf(body['image']) }),
    ...(Array.isArray(keys) && { sshKeys: keys.map(Number) }),
    spot: body['spot_market'] === true || body['spot_instance'] === true,
    ...readTags(body['tags']),
  }
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
