import {
  type EquinixMetal,
  type EquinixMetalOptions,
  startEquinixMetal,
} from '../../sandbox/clouds/equinix-metal/server.ts'
import { type Answer, type Json, callApi } from './call-api.ts'

export type { Answer, Json }

export const project = '0b9c6f1e-6c1d-4d0e-8f55-0a3c5a1b2c3d'
export const otherProject = '1c8d7f2e-7d2e-4e1f-9f66-1b4d6b2c3d4e'

export type Fixture = {
  metal: EquinixMetal
  clock: { now: number }
  /** Calls the API with the token `full`, which has all rights in `project`, or another one; `none` sends no token. */
  call: (route: string, body?: unknown, token?: string) => Promise<Answer>
  /** Reserves one address; `more` is added to the request. */
  reserve: (more?: Json) => Promise<Json>
  /** Adds a device, and returns its id. */
  device: (hostname?: string, metro?: string) => string
}

/** Runs a test with its own simulated Equinix Metal, whose clock only the test moves. */
export async function withMetal(
  options: Partial<EquinixMetalOptions>,
  runTest: (fixture: Fixture) => Promise<void>,
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
  const call: Fixture['call'] = (route, body, token = 'full') =>
    callApi({ url: metal.url, route, body, auth: token === 'none' ? {} : { 'x-auth-token': token } })
  const reserve: Fixture['reserve'] = async (more) =>
    (await call(`POST /projects/${project}/ips`, { type: 'public_ipv4', quantity: 1, metro: 'da', ...more })).body
  const device: Fixture['device'] = (hostname = 'worker-1', metro = 'da') =>
    String(metal.control.devices.add({ hostname, metro })['id'])
  try {
    await runTest({ metal, clock, call, reserve, device })
  } finally {
    await metal.close()
  }
}

/** Returns a list in an answer. */
export const listIn = (body: Json, name: string): Json[] => body[name] as Json[]

/** Returns the ids of the objects in a list. */
export const idsIn = (body: Json, name: string): unknown[] => listIn(body, name).map(({ id }) => id)
