import type { Location } from '../ports/cloud.ts'
import { fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { type Account, pathOf } from './account.ts'
import { unreadableError } from './errors.ts'

/** The locations that have public addresses. */
export async function listLocations({ http }: Account, signal: AbortSignal): Promise<Location[]> {
  const query = { productCategory: 'PUBLIC_IP' }
  const { body } = await http.call({ name: 'locations', method: 'GET', path: pathOf.locations, query }, signal)
  const items = itemsOf(body)?.map(fieldsOf)
  if (!items) throw unreadableError('locations', 'no list of locations')
  return items.flatMap(({ location, locationDescription }) => {
    const code = textOf(location)
    return code === undefined ? [] : { code, name: textOf(locationDescription) ?? code, kind: 'location' }
  })
}
