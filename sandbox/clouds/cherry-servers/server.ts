import type { FastifyInstance, FastifyRequest } from 'fastify'
import { makeRateCounter } from '../rate-limit.ts'
import { type ListenAt, type RunningCloud, makeCloudControl, startSimulatedCloud } from '../simulated-cloud.ts'
import type { InterceptedCalls, VendorFormat } from '../intercept-calls.ts'
import type { VendorHosts } from '../vendor-proxy.ts'
import { type Access, type Token, makeAccess, makeFinders } from './access.ts'
import { accountRoutes } from './account-routes.ts'
import { catalogueRoutes } from './catalogue-routes.ts'
import { cherryCommands } from './cherry-commands.ts'
import { type CallLimit, type CherryServersControl, type NewServer, makeCherryControl } from './cherry-control.ts'
import type { RouteContext } from './route-context.ts'
import { ApiError, errorBody, notFound } from './errors.ts'
import { ipRoutes } from './ip-routes.ts'
import { projectRoutes } from './project-routes.ts'
import { serverRoutes } from './server-routes.ts'
import { type State, type StateOptions, makeState } from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type CherryServersOptions = ListenAt &
  Pick<StateOptions, 'projects'> & {
    tokens: Token[]
    /** The servers at the start. */
    servers?: NewServer[]
    /** How many floating IPs a project may have: 256 when absent. */
    quota?: number
    /** The vendor may refuse more than four calls a second. When absent, no call is refused. */
    callLimit?: CallLimit
    /** How long it takes until a new server is active. */
    provisioningMs?: number
    /** How long a project waits for its ASN after BGP is enabled for a server. */
    localAsnMs?: number
    unknowns?: Partial<UnknownBehaviour>
    /** The clock for the states of servers, ASNs and deletions. */
    now?: () => number
  }

/** Its `url` includes the base path `/v1`. */
export type CherryServers = RunningCloud & { control: CherryServersControl }

const basePath = '/v1'

/** The host name of the vendor's API. */
export function cherryServersHosts(url: string): VendorHosts {
  return { 'api.cherryservers.com': new URL(url).origin }
}

/** Starts a simulated Cherry Servers on a loopback port; its state is in memory. */
export async function startCherryServers(options: CherryServersOptions): Promise<CherryServers> {
  const { projects, now = Date.now, provisioningMs = 2000, localAsnMs = 1000 } = options
  const shared = makeCloudControl(options.quota ?? 256)
  const behaviour = chooseBehaviour(options.unknowns)
  const state = makeState({ projects, quota: shared.quota, behaviour, provisioningMs, localAsnMs, now })
  const access = makeAccess(options.tokens)
  const callLimiter = makeCallLimiter(now)
  callLimiter.set(options.callLimit)
  const control = makeCherryControl(state, shared, { setCallLimit: callLimiter.set, tokens: access.control })
  for (const server of options.servers ?? []) control.devices.add(server)
  const vendor = {
    name: 'Cherry Servers',
    format: makeFormat(access),
    routes: (app: FastifyInstance, intercepted: InterceptedCalls) =>
      serveApi(app, { state, access, callLimiter, intercepted }),
    commands: cherryCommands(control),
  }
  return { ...(await startSimulatedCloud(vendor, shared, options)), control }
}

type Parts = { state: State; access: Access; callLimiter: CallLimiter; intercepted: InterceptedCalls }

function serveApi(app: FastifyInstance, { state, access, callLimiter, intercepted }: Parts): void {
  app.addHook('onRequest', async (request, reply) => {
    state.runDue()
    const { isOver, retryAfterSeconds } = callLimiter.count(request.ip)
    if (isOver && retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
    if (isOver) throw new ApiError(429)
    if (!isPublic(state, request)) access.authenticate(request)
  })
  app.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error)
    if (status === 500 && !(error instanceof ApiError)) console.error(error)
    return reply.code(status).send(errorBody(status, error instanceof ApiError ? error.message : undefined))
  })
  app.setNotFoundHandler(() => {
    throw notFound()
  })
  const cherry: RouteContext = { state, find: makeFinders(state, access), faultOf: intercepted.faultOf }
  ipRoutes(app, cherry)
  serverRoutes(app, cherry)
  projectRoutes(app, cherry, access)
  accountRoutes(app, cherry)
  catalogueRoutes(app, cherry)
}

function isPublic({ behaviour }: State, request: FastifyRequest): boolean {
  const { url = '' } = request.routeOptions
  const open = behaviour.regionsNeedToken === 'no' ? ['/plans', '/regions'] : ['/plans']
  return request.method === 'GET' && open.some((path) => url === basePath + path)
}

function statusOf(error: unknown): number {
  if (error instanceof ApiError) return error.status
  return error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
}

type CallLimiter = ReturnType<typeof makeCallLimiter>

/** Makes a limiter that counts calls by the address of the client, whatever token they carry. */
function makeCallLimiter(now: () => number) {
  let current: { counter: ReturnType<typeof makeRateCounter>; retryAfter: boolean } | undefined
  return {
    set: (limit: CallLimit) => {
      current = limit && { counter: makeRateCounter(limit, now), retryAfter: limit.retryAfter ?? false }
    },
    count: (client: string): { isOver: boolean; retryAfterSeconds?: number } => {
      if (!current) return { isOver: false }
      const { isOver, resetAtMs } = current.counter.count(client)
      return { isOver, ...(current.retryAfter && { retryAfterSeconds: Math.ceil((resetAtMs - now()) / 1000) }) }
    },
  }
}

function makeFormat(access: Access): VendorFormat {
  return { basePath, caller: access.caller, headers: () => ({}), errorBody }
}
