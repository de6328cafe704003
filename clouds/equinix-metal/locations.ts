import { CloudError, type Location } from '../ports/cloud.ts'
import { fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { type Project, unreadableError } from './project.ts'

/** The places in which a project may reserve addresses. */
export async function listLocations(project: Project, signal: AbortSignal): Promise<Location[]> {
  return (await Promise.all([listMetros(project, signal), listFacilities(project, signal)])).flat()
}

async function listMetros({ http }: Project, signal: AbortSignal): Promise<Location[]> {
  const { body } = await http.call({ name: 'locations', method: 'GET', path: ['locations', 'metros'] }, signal)
  const metros = parseLocations('metro', fieldsOf(body).metros)
  if (!metros) throw unreadableError('locations', 'no list of metros', 'nothing')
  return metros
}

/** Equinix announced in 2023 that facilities end. We list them if they still exist; an error here does not affect metros. */
async function listFacilities({ http, id }: Project, signal: AbortSignal): Promise<Location[]> {
  const path = ['projects', id, 'facilities']
  try {
    const { body } = await http.call({ name: 'facilities', method: 'GET', path, timeoutMs: 3_000 }, signal)
    return parseLocations('facility', fieldsOf(body).facilities) ?? []
  } catch (error) {
    if (error instanceof CloudError) return []
    throw error
  }
}

/** The places in a list of metros or facilities; undefined if the value is not a list. */
export function parseLocations(kind: 'metro' | 'facility', list: unknown): Location[] | undefined {
  return itemsOf(list)
    ?.map(fieldsOf)
    .flatMap((place) => {
      const code = textOf(place.code)?.toLowerCase()
      return code === undefined ? [] : { code, name: textOf(place.name) ?? code, kind }
    })
}
