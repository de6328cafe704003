import type { KubeClient, List, ListOptions } from './client.ts'
import { isTooLarge, isUnknownKind, resultUnless } from './errors.ts'
import type { KubeObject } from './objects.ts'
import type { Resource } from './resource.ts'

type Client = Pick<KubeClient, 'list'>
/** Lists all objects of a kind from the API server, page by page. */
export async function listAll<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  options: Omit<ListOptions, 'limit' | 'continue'> = {},
): Promise<T[]> {
  const items: T[] = []
  for await (const page of pagesOf(client, resource, { ...options, limit: 500 })) items.push(...page.items)
  return items
}

/**
 * The pages of a list. Users decide how large their objects are. A page that is too large to read is requested again
 * with half as many objects, down to one. The API server limits a single object to a few MiB.
 */
export async function* pagesOf<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  options: Omit<ListOptions, 'continue'> & { limit: number },
): AsyncGenerator<List<T>, void, void> {
  let { limit } = options
  let next: string | undefined
  do {
    const { page, length } = await readPage(client, resource, { ...options, continue: next, limit })
    limit = length
    next = page.metadata.continue || undefined
    yield page
  } while (next)
}

async function readPage<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  options: ListOptions & { limit: number },
): Promise<{ page: List<T>; length: number }> {
  for (let length = options.limit; ; length = Math.floor(length / 2)) {
    try {
      return { page: await client.list(resource, { ...options, limit: length }), length }
    } catch (error) {
      if (!isTooLarge(error) || length <= 1) throw error
    }
  }
}

/** All objects of a kind; none if the cluster does not serve the kind. */
export function listAllKnown<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  options: Parameters<typeof listAll>[2] = {},
): Promise<T[]> {
  return ifKnown([], () => listAll(client, resource, options))
}

/** The result of a read, or a substitute if the cluster does not serve the kind. */
export async function ifKnown<T>(otherwise: T, read: () => Promise<T>): Promise<T> {
  return resultUnless(isUnknownKind, read(), otherwise)
}
