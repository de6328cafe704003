import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { InterceptedCalls, VendorFormat } from '../intercept-calls.ts'
import { type ListenAt, type RunningCloud, makeCloudControl, startSimulatedCloud } from '../simulated-cloud.ts'
import { type Token, type Tokens, makeTokens } from '../tokens.ts'
import type { VendorHosts } from '../vendor-proxy.ts'
import { ApiError, errorBody, refused } from './errors.ts'
import { flexibleIpRoutes } from './flexible-ip-routes.ts'
import { type NewServer, type ScalewayControl, makeScalewayControl } from './scaleway-control.ts'
import { scalewayCommands } from './scaleway-commands.ts'
import { serverRoutes } from './server-routes.ts'
import { type State, makeState } from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type ScalewayOptions = ListenAt & {
  /** The secret keys; servers are added to the first project of the first one. */
  tokens: Token<string>[]
  servers?: NewServer[]
  /** How many flexible IPs a project may have: 20 when absent. */
  quota?: number
  /** How long a server takes to attach or detach an address: 0 when absent. */
  changeMs?: number
  /** Whether new reservations reuse the ids and addresses of deleted ones, as the vendor's do: true when absent. */
  recycles?: boolean
  unknowns?: Partial<UnknownBehaviour>
  now?: () => number
}

export type Scaleway = RunningCloud & { control: ScalewayControl }

/** The host name of the vendor's API. */
export function scalewayHosts(url: string): VendorHosts {
  return { 'api.scaleway.com': new URL(url).origin }
}

/** Starts a simulated Scaleway with Elastic Metal on a loopback port; its state is in memory. */
export async function startScaleway(options: ScalewayOptions): Promise<Scaleway> {
  const { now = Date.now, changeMs = 0, recycles = true } = options
  const shared = makeCloudControl(options.quota ?? 20)
  const behaviour = chooseBehaviour(options.unknowns)
  const state = makeState({ quota: shared.quota, behaviour, changeMs, recycles, now })
  const tokens = makeTokens(options.tokens, tokenIn)
  const project = options.tokens[0]?.projects[0] ?? randomUUID()
  const control = makeScalewayControl(state, shared, { tokens: tokens.control, project })
  for (const server of options.servers ?? []) control.devices.add(server)
  const format: VendorFormat = {
    basePath: '',
    caller: tokens.caller,
    headers: () => ({ 'x-request-id': randomUUID() }),
    errorBody: (status, message) => errorBody(status, message),
  }
  const vendor = {
    name: 'Scaleway',
    format,
    routes: (app: FastifyInstance, intercepted: InterceptedCalls) => serveApi(app, { state, tokens, intercepted }),
    commands: scalewayCommands(control),
  }
  return { ...(await startSimulatedCloud(vendor, shared, options)), control }
}

type Parts = { state: State; tokens: Tokens<string>; intercepted: InterceptedCalls }

function serveApi(app: FastifyInstance, { state, tokens, intercepted }: Parts): void {
  app.addHook('onRequest', async (request) => {
    state.runDue()
    const token = tokens.find(request)
    if (!token) throw refused(401)
    if (token.readOnly && request.method !== 'GET')
      throw refused(403, { details: [{ action: 'write', resource: 'flexible-ip' }] })
  })
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof ApiError) return reply.code(error.status).send(error.body)
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
    if (status === 500) console.error(error)
    return reply.code(status).send(errorBody(status))
  })
  app.setNotFoundHandler(() => {
    throw new ApiError(404, { message: 'Not Found' })
  })
  const projectsOf = (request: FastifyRequest) => tokens.find(request)?.projects ?? []
  const context = { state, projectsOf, faultOf: intercepted.faultOf }
  flexibleIpRoutes(app, context)
  serverRoutes(app, context)
}

function tokenIn(request: FastifyRequest): string | undefined {
  const token = request.headers['x-auth-token']
  return typeof token === 'string' && token !== '' ? token : undefined
}
