import {
  type CherryServers,
  type CherryServersOptions,
  startCherryServers,
} from '../../sandbox/clouds/cherry-servers/server.ts'

export const project = 218_450
export const otherProject = 218_451
export const team = 5512

export type Json = Record<string, unknown>

export type Answer = {
  status: number
  headers: Headers
  text: string
  /** The body as an object; empty where there is none, or it is not JSON. */
  body: Json
  /** The body as a list; empty where it is none. */
  list: Json[]
}

export type Fixture = {
  cherry: CherryServers
  clock: { now: number }
  /** Calls the API as `full`, who may do everything in `project`, or as another token (`none`: without one). */
  call: (route: string, body?: unknown, token?: string) => Promise<Answer>
  /** Orders a floating IP in Lithuania, and answers it; what is given is added to the request. */
  order: (more?: Json) => Promise<Json>
  /** Adds a server, and tells its id. */
  server: (hostname?: string, region?: string) => number
}

/** Runs a body against a simulated Cherry Servers of its own, whose clock only the body moves. */
export async function withCherry(
  options: Partial<CherryServersOptions>,
  body: (fixture: Fixture) => Promise<void>,
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
  const call: Fixture['call'] = (route, sent, token = 'full') => callApi(cherry.url, { route, sent, token })
  const order: Fixture['order'] = async (more) =>
    (await call(`POST /projects/${project}/ips`, { region: 'LT-Siauliai', ...more })).body
  const server: Fixture['server'] = (hostname = 'worker-1', region = 'LT-Siauliai') =>
    Number(cherry.door.devices.add({ hostname, region })['id'])
  try {
    await body({ cherry, clock, call, order, server })
  } finally {
    await cherry.close()
  }
}

async function callApi(url: string, of: { route: string; sent: unknown; token: string }): Promise<Answer> {
  const [method = '', path = ''] = of.route.split(' ')
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(of.token !== 'none' && { authorization: `Bearer ${of.token}` }),
      ...(of.sent !== undefined && { 'content-type': 'application/json' }),
    },
    ...(of.sent !== undefined && { body: JSON.stringify(of.sent) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  const json: unknown = isJson ? JSON.parse(text) : {}
  const list = Array.isArray(json) ? (json as Json[]) : []
  return { status: response.status, headers: response.headers, text, body: json as Json, list }
}

/** An object in an answer. */
export const within = (body: Json, name: string): Json => (body[name] ?? {}) as Json

/** The ids of the things in a list. */
export const idsIn = (list: Json[]): unknown[] => list.map(({ id }) => id)
