import { type Reply, type Seen, startScript } from './scripted-server.ts'

/** Answers by `METHOD /path`. */
export type Routes = Record<string, Reply | ((request: Seen, nth: number) => Reply)>

/** Runs a client before a server that answers by these routes; what is not in the table is a mistake of the test. */
export async function withClient<V, T>(
  clientAt: (url: string) => V,
  routes: Routes,
  use: (client: V, seen: Seen[]) => Promise<T>,
): Promise<T> {
  await using server = await startScript((request, nth) => {
    const asked = `${request.method} ${request.path}`
    const route = routes[asked] ?? { status: 418, json: { error: `${asked} is not scripted` } }
    return typeof route === 'function' ? route(request, nth) : route
  })
  return await use(clientAt(server.url), server.seen)
}

/** The requests in their order. */
export const asked = (seen: Seen[]) => seen.map(({ method, path }) => `${method} ${path}`)
