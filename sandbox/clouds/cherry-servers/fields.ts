import type { FastifyRequest } from 'fastify'

/** What kind of thing each field holds that holds an object; of any other, all is shown or nothing. */
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

/** What the `fields` of a request leave of a thing: everything of the groups that they name, and the single fields. */
export function selectFields(request: FastifyRequest, group: string, thing: unknown): unknown {
  const { fields } = request.query as { fields?: unknown }
  const names = [fields].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : []))
  const wanted = new Set(names.filter((name) => name !== ''))
  return wanted.size === 0 ? thing : cut(thing, group, wanted)
}

function cut(thing: unknown, group: string | undefined, wanted: ReadonlySet<string>): unknown {
  if (group === undefined || typeof thing !== 'object' || thing === null) return thing
  if (Array.isArray(thing)) return thing.map((one) => cut(one, group, wanted))
  const kept = Object.entries(thing).flatMap(([name, value]) => {
    if (!wanted.has(group) && !wanted.has(name)) return []
    const left = cut(value, groups[name], wanted)
    return isEmptied(value, left) ? [] : [[name, left] as const]
  })
  return Object.fromEntries(kept)
}

/** An object of which nothing was asked for is left out. */
function isEmptied(before: unknown, after: unknown): boolean {
  const size = (value: unknown) => (typeof value === 'object' && value !== null ? Object.keys(value).length : 1)
  return size(before) > 0 && size(after) === 0
}
