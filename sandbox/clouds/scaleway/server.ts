import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../api-error.ts'
import { makeCloudControl } from '../control.ts'
import type { FaultOf } from '../intercept-calls.ts'
import { type CloudOptions, startSimulatedCloud } from '../simulated-cloud.ts'
import { authTokenIn, makeTokens } from '../tokens.ts'
import { chooseValues } from '../unknown-behaviour.ts'
import type { VendorHosts } from '../vendor-proxy.ts'
import { denied, errorBody, refused } from './errors.ts'
import { flexibleIpRoutes } from './flexible-ip-routes.ts'
import { type NewServer, makeScalewayControl } from './scaleway-control.ts'
import { serverRoutes } from './server-routes.ts'
import { makeState } from './state.ts'
import { type UnknownBehaviour, behaviourChoices } from './unknown-behaviour.ts'

/** Servers are added to the first project of the first secret key. A project may have 20 flexible IPs. */
export type ScalewayOptions = CloudOptions<string, NewServer, UnknownBehaviour> & {
  /** How long a server takes to attach or detach an address: 0 when absent. */
  changeMs?: number
  /** Whether new reservations reuse the ids and addresses of deleted ones, as the vendor's do: true when absent. */
  recycles?: boolean
}

/** The host name of the vendor's API. */
export function scalewayHosts(url: string): VendorHosts {
  return { 'api.scaleway.com': new URL(url).origin }
}

/** Starts a simulated Scaleway with Elastic Metal. */
export async function startScaleway(options: ScalewayOptions) {
  const { now = Date.now, changeMs = 0, recycles = true } = options
  const shared = makeCloudControl(options.quota ?? 20)
  const behaviour = chooseValues(behaviourChoices, options.unknowns)
  const state = makeState({ quota: shared.quota, behaviour, changeMs, recycles, now })
  const tokens = makeTokens(options.tokens, authTokenIn)
  const project = options.tokens[0]?.projects[0] ?? randomUUID()
  const control = makeScalewayControl(state, shared, { tokens: tokens.control, project })
  for (const server of options.servers ?? []) control.devices.add(server)
  const projectsOf = (request: FastifyRequest) => tokens.find(request)?.projects ?? []
  const vendor = {
    name: 'Scaleway',
    basePath: '',
    state,
    control,
    caller: tokens.caller,
    headers: () => ({ 'x-request-id': randomUUID() }),
    errorBody,
    unknownPath: () => new ApiError(404, { message: 'Not Found' }),
    routes(app: FastifyInstance, faultOf: FaultOf) {
      app.addHook('onRequest', async (request) => {
        const token = tokens.find(request)
        if (!token) throw refused(401)
        if (token.readOnly && request.method !== 'GET') throw denied('write')
      })
      const context = { state, projectsOf, faultOf }
      flexibleIpRoutes(app, context)
      serverRoutes(app, context)
    },
  }
  return startSimulatedCloud(vendor, options)
}
