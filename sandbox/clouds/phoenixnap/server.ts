import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { makeCloudControl } from '../control.ts'
import type { FaultOf } from '../intercept-calls.ts'
import { type CloudOptions, startSimulatedCloud } from '../simulated-cloud.ts'
import { chooseValues } from '../unknown-behaviour.ts'
import type { VendorHosts } from '../vendor-proxy.ts'
import { makeAccess, tokenPath } from './access.ts'
import { errorBody } from './errors.ts'
import { membershipRoutes } from './membership-routes.ts'
import { networkRoutes } from './network-routes.ts'
import { type NewServer, makePhoenixnapControl } from './phoenixnap-control.ts'
import { locationsPath, resourceRoutes } from './resource-routes.ts'
import { serverRoutes } from './server-routes.ts'
import { makeState } from './state.ts'
import { type UnknownBehaviour, behaviourChoices } from './unknown-behaviour.ts'

/**
 * A token is the secret of a client, and a project an account and the id of its client. Servers are added to the first
 * account. An account may have 256 IP blocks.
 */
export type PhoenixnapOptions = CloudOptions<string, NewServer, UnknownBehaviour> & {
  /** How long the changes of blocks and peer groups take: 0 when absent. */
  changeMs?: number
  /** How long an access token is valid: 300 seconds when absent. */
  tokenSeconds?: number
}

/** The host names of the vendor's APIs. */
export function phoenixnapHosts(url: string): VendorHosts {
  const { origin } = new URL(url)
  return { 'api.phoenixnap.com': origin, 'auth.phoenixnap.com': origin }
}

/** Starts a simulated phoenixNAP Bare Metal Cloud. */
export async function startPhoenixnap(options: PhoenixnapOptions) {
  const { now = Date.now, changeMs = 0, tokenSeconds = 300 } = options
  const shared = makeCloudControl(options.quota ?? 256)
  const behaviour = chooseValues(behaviourChoices, options.unknowns)
  const state = makeState({ quota: shared.quota, behaviour, changeMs, now })
  const access = makeAccess({ tokens: options.tokens, tokenSeconds, behaviour: () => state.behaviour, now })
  const account = options.tokens[0]?.projects[0] ?? randomUUID()
  const control = makePhoenixnapControl(state, shared, { access, account })
  for (const server of options.servers ?? []) control.devices.add(server)
  const vendor = {
    name: 'phoenixNAP',
    basePath: '',
    state,
    control,
    caller: access.tokens.caller,
    errorBody,
    routes(app: FastifyInstance, faultOf: FaultOf) {
      app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, text, done) =>
        done(null, text),
      )
      app.addHook('onRequest', async (request) => {
        if (!isOpen(request)) access.check(request)
      })
      access.serveTokens(app)
      const context = { state, accountOf: access.accountOf, faultOf }
      resourceRoutes(app, context)
      serverRoutes(app, context)
      networkRoutes(app, context)
      membershipRoutes(app, context)
    },
  }
  return startSimulatedCloud(vendor, options)
}

/** Requesting a token and listing locations need no token. */
function isOpen({ method, routeOptions: { url } }: FastifyRequest): boolean {
  return url === tokenPath || (method === 'GET' && url === locationsPath)
}
