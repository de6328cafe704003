import type { FastifyRequest } from 'fastify'

/** The group of each field whose value is an object; every other field is shown whole or not at all. */
const groups: Record<string, string> = {
  ip_addresses: 'ip',
  routed_to: 'ip',
  assigned_to: 'server',
  targeted_to: 'server',
  available_regions: 'region',
  regions: 'region',
  region: 'region',
  project: 'project',
  plan: 'plan',
}

/** Applies the parameter `fields` of a request: keeps all fields of the groups that it names, and the fields it names. */
export function selectFields(request: FastifyRequest, group: string, value: unknown): unknown {
  const { fields } = request.query as { fields?: unknown }
  const names = [fields].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : []))
  const wanted = new Set(names.filter((name) => name !== ''))
  return wanted.size === 0 ? value : select(value, group, wanted)
}

function select(object: unknown, group: string | undefined, wanted: ReadonlySet<string>): unknown {
  if (group === undefined || typeof object !== 'object' || object === null) return object
  if (Array.isArray(object)) return object.map((one) => select(one, group, wanted))
  const kept = Object.entries(object).flatMap(([name, value]) => {
    if (!wanted.has(group) && !wanted.has(name)) return []
    const left = select(value, groups[name], wanted)
    return isEmptied(value, left) ? [] : [[name, left] as const]
  })
  return Object.fromEntries(kept)
}

/** Whether nothing of an object is left; such an object is omitted. */
function isEmptied(before: unknown, after: unknown): boolean {
  const size = (value: unknown) => (typeof value === 'object' && value !== null ? Object.keys(value).length : 1)
  return size(before) > 0 && size(after) === 0
}
