import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { InterceptedCalls, VendorFormat } from '../intercept-calls.ts'
import { type ListenAt, type RunningCloud, makeCloudControl, startSimulatedCloud } from '../simulated-cloud.ts'
import type { Token } from '../tokens.ts'
import type { VendorHosts } from '../vendor-proxy.ts'
import { type Access, makeAccess, tokenPath } from './access.ts'
import { ApiError, errorBody } from './errors.ts'
import { membershipRoutes } from './membership-routes.ts'
import { networkRoutes } from './network-routes.ts'
import { phoenixnapCommands } from './phoenixnap-commands.ts'
import { type NewServer, type PhoenixnapControl, makePhoenixnapControl } from './phoenixnap-control.ts'
import { locationsPath, resourceRoutes } from './resource-routes.ts'
import { serverRoutes } from './server-routes.ts'
import { type State, makeState } from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type PhoenixnapOptions = ListenAt & {
  /** The client secrets. A project is an account, and the id of its client; servers are added to the first one. */
  tokens: Token<string>[]
  servers?: NewServer[]
  /** How many IP blocks an account may have: 256 when absent. */
  quota?: number
  /** How long the changes of blocks and peer groups take: 0 when absent. */
  changeMs?: number
  /** How long an access token is valid: 300 seconds when absent. */
  tokenSeconds?: number
  unknowns?: Partial<UnknownBehaviour>
  now?: () => number
}

export type Phoenixnap = RunningCloud & { control: PhoenixnapControl }

/** The host names of the vendor's APIs. */
export function phoenixnapHosts(url: string): VendorHosts {
  const { origin } = new URL(url)
  return { 'api.phoenixnap.com': origin, 'auth.phoenixnap.com': origin }
}

/** Starts a simulated phoenixNAP Bare Metal Cloud on a loopback port; its state is in memory. */
export async function startPhoenixnap(options: PhoenixnapOptions): Promise<Phoenixnap> {
  const { now = Date.now, changeMs = 0, tokenSeconds = 300 } = options
  const shared = makeCloudControl(options.quota ?? 256)
  const state = makeState({ quota: shared.quota, behaviour: chooseBehaviour(options.unknowns), changeMs, now })
  const access = makeAccess({ tokens: options.tokens, tokenSeconds, behaviour: () => state.behaviour, now })
  const account = options.tokens[0]?.projects[0] ?? randomUUID()
  const control = makePhoenixnapControl(state, shared, { access, account })
  for (const server of options.servers ?? []) control.devices.add(server)
  const format: VendorFormat = {
    basePath: '',
    caller: access.tokens.caller,
    headers: () => ({}),
    errorBody: (status, message) => errorBody(status, message),
  }
  const vendor = {
    name: 'phoenixNAP',
    format,
    routes: (app: FastifyInstance, intercepted: InterceptedCalls) => serveApi(app, { state, access, intercepted }),
    commands: phoenixnapCommands(control),
  }
  return { ...(await startSimulatedCloud(vendor, shared, options)), control }
}

type Parts = { state: State; access: Access; intercepted: InterceptedCalls }

function serveApi(app: FastifyInstance, { state, access, intercepted }: Parts): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, text, done) =>
    done(null, text),
  )
  app.addHook('onRequest', async (request) => {
    state.runDue()
    if (!isOpen(request)) access.check(request)
  })
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof ApiError)
      return reply.code(error.status).send(errorBody(error.status, error.message, error.problems))
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
    if (status === 500) console.error(error)
    return reply.code(status).send(errorBody(status))
  })
  app.setNotFoundHandler(() => {
    throw new ApiError(404)
  })
  access.serveTokens(app)
  const context = { state, accountOf: access.accountOf, faultOf: intercepted.faultOf }
  resourceRoutes(app, context)
  serverRoutes(app, context)
  networkRoutes(app, context)
  membershipRoutes(app, context)
}

/** Requesting a token and listing locations need no token. */
function isOpen({ method, routeOptions: { url } }: FastifyRequest): boolean {
  return url === tokenPath || (method === 'GET' && url === locationsPath)
}
