import { createHash, randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { type RateLimit, makeRateCounter } from '../rate-limit.ts'
import { type ListenAt, type RunningCloud, makeCloudControl, startSimulatedCloud } from '../simulated-cloud.ts'
import type { InterceptedCalls, VendorFormat } from '../intercept-calls.ts'
import type { VendorHosts } from '../vendor-proxy.ts'
import { type Access, type Token, makeAccess, makeFinders } from './access.ts'
import { accountRoutes } from './account-routes.ts'
import { makeBalancerAccess } from './balancers/access.ts'
import { makeBalancerControl } from './balancers/control.ts'
import { serveBalancers } from './balancers/serve.ts'
import { makeBalancerState } from './balancers/state.ts'
import { bgpRoutes } from './bgp.ts'
import { capacityRoutes } from './capacity.ts'
import { catalogueRoutes } from './catalogue-routes.ts'
import { deviceRoutes } from './devices.ts'
import { eventRoutes } from './event-routes.ts'
import { projectRoutes } from './project-routes.ts'
import { metalCommands } from './metal-commands.ts'
import { type EquinixMetalControl, type NewDevice, makeMetalControl } from './metal-control.ts'
import { ApiError, errorBody, messagesOf, notFound, statusOf } from './errors.ts'
import { basePath } from './hrefs.ts'
import { ipRoutes } from './ips.ts'
import { locationRoutes } from './location-routes.ts'
import type { RouteContext } from './route-context.ts'
import { type State, makeState } from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type EquinixMetalOptions = ListenAt & {
  projects: { id: string; name?: string }[]
  tokens: Token[]
  /** The devices at the start. */
  devices?: NewDevice[]
  /** How many public addresses a project may have: 256 when absent. */
  quota?: number
  /** The vendor publishes no limits. When absent, the headers count down, but no call is refused. */
  rateLimit?: RateLimit
  /** How long it takes until a new device is active. */
  provisioningMs?: number
  unknowns?: Partial<UnknownBehaviour>
  /** The clock for late grants, the states of devices and deletions. */
  now?: () => number
}

/** The host names of the vendor's APIs; URLs of packet-ccm have no path. */
export function equinixMetalHosts(url: string): VendorHosts {
  return {
    'api.equinix.com': new URL(url).origin,
    'api.packet.net': url,
    'lb.metalctrl.io': `${url}/lb`,
    'iam.metalctrl.io': `${url}/iam`,
  }
}

export type EquinixMetal = RunningCloud & { control: EquinixMetalControl }

/** Starts a simulated Equinix Metal on a loopback port; its state is in memory. */
export async function startEquinixMetal(options: EquinixMetalOptions): Promise<EquinixMetal> {
  const now = options.now ?? Date.now
  const shared = makeCloudControl(options.quota ?? 256)
  const behaviour = chooseBehaviour(options.unknowns)
  const { projects, provisioningMs = 2000 } = options
  const state = makeState({ projects, quota: shared.quota, behaviour, provisioningMs, now })
  const access = makeAccess(options.tokens)
  const rate = makeRateCounter(options.rateLimit ?? { calls: 5000, perMs: 60_000 }, now)
  const limit = { rate, isEnforced: options.rateLimit !== undefined }
  const balancers = makeBalancerState(state)
  const balancerAccess = makeBalancerAccess(balancers, access.withText)
  const control = makeMetalControl(state, shared, {
    balancers: makeBalancerControl(balancers, balancerAccess),
    tokens: access.control,
  })
  for (const device of options.devices ?? []) control.devices.add(device)
  const vendor = {
    name: 'Equinix Metal',
    format: makeFormat((request) => balancerAccess.caller(request) ?? access.caller(request), rate),
    routes: (app: FastifyInstance, intercepted: InterceptedCalls) => {
      // Scopes of their own: each service has other credentials and other errors.
      app.register(async (scope) => serveApi(scope, { state, access, limit, intercepted }))
      app.register(async (scope) => serveBalancers(scope, balancers, balancerAccess))
    },
    commands: metalCommands(state, control),
  }
  return { ...(await startSimulatedCloud(vendor, shared, options)), control }
}

type RateCounter = ReturnType<typeof makeRateCounter>
type Parts = {
  state: State
  access: Access
  limit: { rate: RateCounter; isEnforced: boolean }
  intercepted: InterceptedCalls
}

function serveApi(app: FastifyInstance, { state, access, limit, intercepted }: Parts): void {
  app.addHook('onRequest', async (request) => {
    state.runDue()
    access.authenticate(request)
    const { isOver } = limit.rate.count(access.caller(request))
    if (isOver && limit.isEnforced) throw new ApiError(429, [])
  })
  app.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error)
    if (status === 500) console.error(error)
    return reply.code(status).send(errorBody(status, messagesOf(error)))
  })
  app.setNotFoundHandler(() => {
    throw notFound()
  })
  const metal: RouteContext = { state, find: makeFinders(state, access), faultOf: intercepted.faultOf }
  ipRoutes(app, metal)
  deviceRoutes(app, metal)
  bgpRoutes(app, metal)
  locationRoutes(app, metal)
  capacityRoutes(app, metal)
  accountRoutes(app, metal, access)
  projectRoutes(app, metal, access)
  catalogueRoutes(app, metal)
  eventRoutes(app, metal, access)
}

function makeFormat(caller: VendorFormat['caller'], rate: RateCounter): VendorFormat {
  return {
    basePath,
    caller,
    errorBody: (status, message) => errorBody(status, message === undefined ? [] : [message]),
    headers: (request, status, payload) => ({
      'x-request-id': randomUUID(),
      'cache-control': 'max-age=0, private, must-revalidate',
      ...(payload !== '' && { etag: `W/"${createHash('md5').update(payload).digest('hex')}"` }),
      ...rateHeaders(rate, { caller: caller(request), isOver: status === 429 }),
    }),
  }
}

function rateHeaders(rate: RateCounter, of: { caller: string; isOver: boolean }): Record<string, string> {
  const { limit, remaining, resetAtMs } = rate.status(of.caller)
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(of.isOver ? 0 : remaining),
    'x-ratelimit-reset': String(Math.ceil(resetAtMs / 1000)),
  }
}
