import { fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import type { Project } from './project.ts'
import { changeTags } from './tags.ts'
import { isReservation } from './parse-reservation.ts'

type Change = { id: string; marks: Record<string, string | undefined> }

/** Changes the tags of a reservation. A PATCH replaces the whole list, which people edit too, so we read it first. */
export async function mark({ http }: Project, { id, marks }: Change, signal: AbortSignal): Promise<void> {
  const path = ['ips', id]
  const { body } = await http.call({ name: 'reservation', method: 'GET', path, accept: [404] }, signal)
  const item = fieldsOf(body)
  if (!isReservation(item)) return
  const before = itemsOf(item.tags)?.flatMap((tag) => textOf(tag) ?? []) ?? []
  const tags = changeTags(before, marks)
  if (tags.toSorted().join('\n') === before.toSorted().join('\n')) return
  await http.call({ name: 'mark', method: 'PATCH', path, body: { tags }, accept: [404] }, signal)
}
