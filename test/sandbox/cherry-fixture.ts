import {
  type CherryServers,
  type CherryServersOptions,
  startCherryServers,
} from '../../sandbox/clouds/cherry-servers/server.ts'
import { type Answer, type Json, callApi } from './call-api.ts'

export type { Json }

export const project = 218_450
export const otherProject = 218_451
export const team = 5512

export type Fixture = {
  cherry: CherryServers
  clock: { now: number }
  /** Calls the API with the token `full`, which has all rights in `project`, or another one; `none` sends no token. */
  call: (route: string, body?: unknown, token?: string) => Promise<Answer>
  /** Orders a floating IP in Lithuania, and returns it; `more` is added to the request. */
  order: (more?: Json) => Promise<Json>
  /** Adds a server, and returns its id. */
  server: (hostname?: string, region?: string) => number
}

/** Runs a test with its own simulated Cherry Servers, whose clock only the test moves. */
export async function withCherry(
  options: Partial<CherryServersOptions>,
  runTest: (fixture: Fixture) => Promise<void>,
): Promise<void> {
  const clock = { now: Date.parse('2026-09-01T10:00:00Z') }
  const cherry = await startCherryServers({
    projects: [{ id: project, name: 'edge-prod' }, { id: otherProject }],
    tokens: [
      { token: 'full', label: 'full', projects: [project] },
      { token: 'both', label: 'both', projects: [project, otherProject] },
      { token: 'reader', label: 'reader', projects: [project], readOnly: true },
    ],
    now: () => clock.now,
    ...options,
  })
  const call: Fixture['call'] = (route, body, token = 'full') =>
    callApi({ url: cherry.url, route, body, auth: token === 'none' ? {} : { authorization: `Bearer ${token}` } })
  const order: Fixture['order'] = async (more) =>
    (await call(`POST /projects/${project}/ips`, { region: 'LT-Siauliai', ...more })).body
  const server: Fixture['server'] = (hostname = 'worker-1', region = 'LT-Siauliai') =>
    Number(cherry.control.devices.add({ hostname, region })['id'])
  try {
    await runTest({ cherry, clock, call, order, server })
  } finally {
    await cherry.close()
  }
}

/** Returns an object in an answer. */
export const within = (body: Json, name: string): Json => (body[name] ?? {}) as Json

/** Returns the ids of the objects in a list. */
export const idsIn = (list: Json[]): unknown[] => list.map(({ id }) => id)
