import type { Location } from '../ports/cloud.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { idOf } from './id.ts'
import { unreadableError } from './errors.ts'
import type { Project } from './project.ts'

/** The names of regions until 2025, which older settings still contain. */
const formerNames: Record<string, string[]> = {
  'LT-Siauliai': ['EU-Nord-1', 'eu_nord_1'],
  'NL-Amsterdam': ['EU-West-1', 'eu_west_1'],
}

/** The regions in which addresses can be reserved. */
export async function listLocations({ http }: Project, signal: AbortSignal): Promise<Location[]> {
  const { body } = await http.call({ name: 'locations', method: 'GET', path: ['regions'] }, signal)
  const regions = parseLocations(body)
  if (!regions) throw unreadableError('locations', 'no list of regions')
  return regions
}

/** The regions in a list; undefined if the value is not a list. */
export function parseLocations(list: unknown): Location[] | undefined {
  const regions = itemsOf(list)
    ?.map(fieldsOf)
    .filter((region) => textOf(region.slug) !== undefined)
  return regions?.map((region) => parseLocation(region, regions))
}

function parseLocation(region: Fields, all: Fields[]): Location {
  const code = textOf(region.slug) ?? ''
  const others = all.filter((other) => other !== region).map(wordsOf)
  const isUnique = (word: string) => word !== code && !others.some((text) => text.includes(word))
  const former = (formerNames[code] ?? []).filter(isUnique)
  return {
    code,
    name: textOf(region.name) ?? code,
    kind: 'region',
    aliases: wordsOf(region).filter(isUnique),
    ...(former.length > 0 && { formerNames: former }),
  }
}

/** The texts that people write for a region. The code of a country with two regions names neither. */
function wordsOf({ id, slug, name, region_iso_2 }: Fields): string[] {
  return [idOf(id), textOf(slug), textOf(name), textOf(region_iso_2)].filter((word) => word !== undefined)
}

/** The region that a text names; capitals do not count. */
export function locationBy(word: string, locations: Location[]): Location | undefined {
  const wanted = word.trim().toLowerCase()
  return locations.find(({ code, aliases = [], formerNames = [] }) =>
    [code, ...aliases, ...formerNames].some((name) => name.toLowerCase() === wanted),
  )
}
