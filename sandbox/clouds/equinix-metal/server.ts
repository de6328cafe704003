import { createHash, randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { makeCloudControl } from '../control.ts'
import type { FaultOf } from '../intercept-calls.ts'
import { type RateLimit, makeRateCounter } from '../rate-limit.ts'
import { type CloudOptions, startSimulatedCloud } from '../simulated-cloud.ts'
import { chooseValues } from '../unknown-behaviour.ts'
import type { VendorHosts } from '../vendor-proxy.ts'
import { type Access, makeAccess, makeFinders } from './access.ts'
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
import { type NewDevice, makeMetalControl } from './metal-control.ts'
import { errorBody, refused } from './errors.ts'
import { basePath } from './hrefs.ts'
import { ipRoutes } from './ips.ts'
import { locationRoutes } from './location-routes.ts'
import { type State, type StateOptions, makeState } from './state.ts'
import { type UnknownBehaviour, behaviourChoices } from './unknown-behaviour.ts'

/** A project may have 256 public addresses. */
export type EquinixMetalOptions = CloudOptions<string, NewDevice, UnknownBehaviour> &
  Pick<StateOptions, 'projects'> & {
    /** The vendor publishes no limits. When absent, the headers count down, but no call is refused. */
    rateLimit?: RateLimit
    /** How long it takes until a new device is active. */
    provisioningMs?: number
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

export type EquinixMetal = Awaited<ReturnType<typeof startEquinixMetal>>

/** Starts a simulated Equinix Metal. */
export async function startEquinixMetal(options: EquinixMetalOptions) {
  const { projects, now = Date.now, provisioningMs = 2000 } = options
  const shared = makeCloudControl(options.quota ?? 256)
  const behaviour = chooseValues(behaviourChoices, options.unknowns)
  const state = makeState({ projects, quota: shared.quota, behaviour, provisioningMs, now })
  const access = makeAccess(options.tokens)
  const rate = makeRateCounter(options.rateLimit ?? { calls: 5000, perMs: 60_000 }, now)
  const balancers = makeBalancerState(state)
  const balancerAccess = makeBalancerAccess(balancers, access.withText)
  const control = makeMetalControl(state, shared, {
    balancers: makeBalancerControl(balancers, balancerAccess),
    tokens: access.control,
  })
  for (const server of options.servers ?? []) control.devices.add(server)
  const caller = (request: FastifyRequest) => balancerAccess.caller(request) ?? access.caller(request)
  const vendor = {
    name: 'Equinix Metal',
    basePath,
    state,
    control,
    caller,
    headers: (request: FastifyRequest, status: number, payload: string) => ({
      'x-request-id': randomUUID(),
      'cache-control': 'max-age=0, private, must-revalidate',
      ...(payload !== '' && { etag: `W/"${createHash('md5').update(payload).digest('hex')}"` }),
      ...rateHeaders(rate, { caller: caller(request), isOver: status === 429 }),
    }),
    errorBody: (status: number, message?: string) => errorBody(status, ...(message === undefined ? [] : [message])),
    routes(app: FastifyInstance, faultOf: FaultOf) {
      app.addHook('onRequest', async (request) => {
        access.authenticate(request)
        const { isOver } = rate.count(access.caller(request))
        if (isOver && options.rateLimit) throw refused(429)
      })
      serveApi(app, { state, access, faultOf })
    },
    // They have other credentials and other errors.
    otherRoutes: (app: FastifyInstance) => serveBalancers(app, balancers, balancerAccess),
  }
  return startSimulatedCloud(vendor, options)
}

type RateCounter = ReturnType<typeof makeRateCounter>

type Parts = { state: State; access: Access; faultOf: FaultOf }

function serveApi(app: FastifyInstance, { state, access, faultOf }: Parts): void {
  const metal = { state, find: makeFinders(state, access), faultOf }
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

function rateHeaders(rate: RateCounter, of: { caller: string; isOver: boolean }): Record<string, string> {
  const { limit, remaining, resetAtMs } = rate.status(of.caller)
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(of.isOver ? 0 : remaining),
    'x-ratelimit-reset': String(Math.ceil(resetAtMs / 1000)),
  }
}
