import type { WholeVendor } from '../../../clouds/ports/cloud-provider.ts'
import { type Routes, withClient } from '../scripted-routes.ts'
import type { Reply, Seen } from '../scripted-server.ts'
import { cherryAt } from './fixtures.ts'

export { asked, type Routes } from '../scripted-routes.ts'

/** Runs a client before a server that answers by these routes. */
export const withRoutes = <T>(routes: Routes, use: (cloud: WholeVendor, seen: Seen[]) => Promise<T>): Promise<T> =>
  withClient(cherryAt, routes, use)

/** A refusal in the API's form. */
export const refusal = (status: number, message: string): Reply => ({ status, json: { code: status, message } })

/** A list that is there in one answer. */
export const list = (...items: object[]): Reply => ({ json: items, headers: { 'x-total-count': String(items.length) } })
