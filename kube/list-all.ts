import type { KubeClient, ListOptions } from './client.ts'
import type { KubeObject } from './objects.ts'
import type { Resource } from './resource.ts'

/** Lists all objects of a kind from the API server, page by page. */
export async function listAll<T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  options: Omit<ListOptions, 'limit' | 'continue'> = {},
): Promise<T[]> {
  const items: T[] = []
  let next: string | undefined
  do {
    const page = await client.list(resource, { ...options, limit: 500, ...(next ? { continue: next } : {}) })
    items.push(...page.items)
    next = page.metadata.continue
  } while (next)
  return items
}
