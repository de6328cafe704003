import { findAddress } from './find-address.ts'
import type { Project } from './project.ts'

type Change = { id: string; marks: Record<string, string | undefined> }

/** Changes the tags of a reservation. A PUT replaces the whole map, which people edit too, so we read it first. */
export async function mark(project: Project, { id, marks }: Change, signal: AbortSignal): Promise<void> {
  const found = await findAddress(project, { id }, signal)
  if (!found || Object.entries(marks).every(([key, value]) => found.tags[key] === value)) return
  // A tag to remove is undefined, so it is not in the JSON.
  const body = { tags: { ...found.tags, ...marks } }
  await project.http.call({ name: 'mark', method: 'PUT', path: ['ips', id], body, accept: [404] }, signal)
}
