import type { FastifyRequest } from 'fastify'

/** The group of each field whose value is an object; every other field is shown whole or not at all. */
const groups: Record<string, string> = {
  ip_addresses: 'ip',
  routed_to: 'ip',
  assigned_to: 'nested server',
  targeted_to: 'nested server',
  available_regions: 'region',
  regions: 'region',
  region: 'region',
  project: 'project',
  plan: 'plan',
  softwares: 'softwares',
}

/** The fields of a server inside an address that are shown only where `fields` names them. */
const hiddenInside = new Set(['image', 'status', 'bgp'])

/** Applies the parameter `fields` of a request: keeps all fields of the groups that it names, and the fields it names. */
export function selectFields(request: FastifyRequest, group: string, value: unknown): unknown {
  const { fields } = request.query as { fields?: unknown }
  const names = [fields].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : []))
  const wanted = new Set(names.filter((name) => name !== ''))
  return wanted.size === 0 ? defaultFields(group, value) : select(value, group, isNamedIn(wanted))
}

/** Returns what an answer shows without the parameter `fields`. */
export function defaultFields(group: string, value: unknown): unknown {
  return select(value, group, (within, name) => within !== 'nested server' || !hiddenInside.has(name))
}

type Filter = (group: string, name: string) => boolean

const isNamedIn =
  (wanted: ReadonlySet<string>): Filter =>
  (group, name) => {
    if (group !== 'nested server') return wanted.has(group) || wanted.has(name)
    return wanted.has(name) || (wanted.has('server') && !hiddenInside.has(name))
  }

function select(object: unknown, group: string | undefined, keeps: Filter): unknown {
  if (group === undefined || typeof object !== 'object' || object === null) return object
  if (Array.isArray(object)) return object.map((one) => select(one, group, keeps))
  const kept = Object.entries(object).flatMap(([name, value]) => {
    if (!keeps(group, name)) return []
    const left = select(value, groups[name], keeps)
    return isEmptied(value, left) ? [] : [[name, left] as const]
  })
  return Object.fromEntries(kept)
}

/** Whether no field is left of an object, or of any object in a list. An emptied value is omitted. */
function isEmptied(before: unknown, after: unknown): boolean {
  if (Array.isArray(before) && Array.isArray(after))
    return before.length > 0 && before.every((one, n) => isEmptied(one, after[n]))
  const size = (value: unknown) => (typeof value === 'object' && value !== null ? Object.keys(value).length : 1)
  return size(before) > 0 && size(after) === 0
}
