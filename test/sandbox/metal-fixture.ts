import {
  type EquinixMetal,
  type EquinixMetalOptions,
  startEquinixMetal,
} from '../../sandbox/clouds/equinix-metal/server.ts'

export const project = '0b9c6f1e-6c1d-4d0e-8f55-0a3c5a1b2c3d'
export const otherProject = '1c8d7f2e-7d2e-4e1f-9f66-1b4d6b2c3d4e'

export type Json = Record<string, unknown>

export type Answer = {
  status: number
  headers: Headers
  text: string
  /** The body as an object; empty where there is none, or it is not JSON. */
  body: Json
}

export type Fixture = {
  metal: EquinixMetal
  clock: { now: number }
  /** Calls the API as `full`, who may do everything in `project`, or as another token (`none`: without one). */
  call: (route: string, body?: unknown, token?: string) => Promise<Answer>
  /** Reserves one address; what is given is added to the request. */
  reserve: (more?: Json) => Promise<Json>
  /** Adds a device, and tells its id. */
  device: (hostname?: string, metro?: string) => string
}

/** Runs a body against a simulated Equinix Metal of its own, whose clock only the body moves. */
export async function withMetal(
  options: Partial<EquinixMetalOptions>,
  body: (fixture: Fixture) => Promise<void>,
): Promise<void> {
  const clock = { now: Date.parse('2026-01-31T09:15:04Z') }
  const metal = await startEquinixMetal({
    projects: [{ id: project }, { id: otherProject }],
    tokens: [
      { token: 'full', label: 'full', projects: [project] },
      { token: 'both', label: 'both', projects: [project, otherProject] },
      { token: 'reader', label: 'reader', projects: [project], readOnly: true },
    ],
    now: () => clock.now,
    ...options,
  })
  const call: Fixture['call'] = (route, sent, token = 'full') => callApi(metal.url, { route, sent, token })
  const reserve: Fixture['reserve'] = async (more) =>
    (await call(`POST /projects/${project}/ips`, { type: 'public_ipv4', quantity: 1, metro: 'da', ...more })).body
  const device: Fixture['device'] = (hostname = 'worker-1', metro = 'da') =>
    String(metal.door.devices.add({ hostname, metro })['id'])
  try {
    await body({ metal, clock, call, reserve, device })
  } finally {
    await metal.close()
  }
}

async function callApi(url: string, of: { route: string; sent: unknown; token: string }): Promise<Answer> {
  const [method = '', path = ''] = of.route.split(' ')
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(of.token !== 'none' && { 'x-auth-token': of.token }),
      ...(of.sent !== undefined && { 'content-type': 'application/json' }),
    },
    ...(of.sent !== undefined && { body: JSON.stringify(of.sent) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: response.status, headers: response.headers, text, body: isJson ? (JSON.parse(text) as Json) : {} }
}

/** A list in an answer. */
export const listIn = (body: Json, name: string): Json[] => body[name] as Json[]

/** The ids of the things in a list. */
export const idsIn = (body: Json, name: string): unknown[] => listIn(body, name).map(({ id }) => id)
