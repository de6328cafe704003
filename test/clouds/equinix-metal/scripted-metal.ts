import type { WholeVendor } from '../../../clouds/ports/cloud-provider.ts'
import { type Routes, withClient } from '../scripted-routes.ts'
import type { Reply, Seen } from '../scripted-server.ts'
import { metalAt } from './fixtures.ts'

export { asked, type Routes } from '../scripted-routes.ts'

/** Runs a client before a server that answers by these routes. */
export const withRoutes = <T>(routes: Routes, use: (cloud: WholeVendor, seen: Seen[]) => Promise<T>): Promise<T> =>
  withClient(metalAt, routes, use)

/** A refusal in the API's usual form. */
export const errors = (status: number, ...texts: string[]): Reply => ({ status, json: { errors: texts } })
