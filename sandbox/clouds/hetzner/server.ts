import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { InterceptedCalls, VendorFormat } from '../intercept-calls.ts'
import { type RouteMatcher, routeMatcher } from '../route-matcher.ts'
import { type ListenAt, type RunningCloud, makeCloudControl, startSimulatedCloud } from '../simulated-cloud.ts'
import { type Token, makeTokens } from '../tokens.ts'
import type { VendorHosts } from '../vendor-proxy.ts'
import { catalogueRoutes } from './catalogue-routes.ts'
import { ApiError, errorBody, refused } from './errors.ts'
import { floatingIpRoutes } from './floating-ip-routes.ts'
import { hetznerCommands } from './hetzner-commands.ts'
import { type CallLimit, type HetznerControl, type NewServer, makeHetznerControl } from './hetzner-control.ts'
import { serverRoutes } from './server-routes.ts'
import { sshKeyRoutes } from './ssh-key-routes.ts'
import { makeState, type State } from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type HetznerOptions = ListenAt & {
  /** The project of a token is a number of this simulator: the API shows none. */
  tokens: Token<number>[]
  servers?: NewServer[]
  /** How many floating IPs a project may have: 10 when absent, as new projects have. */
  quota?: number
  /** The calls that a project may send. When absent, none is refused. */
  callLimit?: CallLimit
  /** How long actions run: one to three seconds when absent. */
  actionMs?: number
  unknowns?: Partial<UnknownBehaviour>
  now?: () => number
}

/** Its `url` includes the base path `/v1`. */
export type Hetzner = RunningCloud & { control: HetznerControl }

const basePath = '/v1'

/** The vendor documents no duration. Users and its clients' tests report these. */
const usualAction = { fromMs: 1_000, toMs: 3_000 }

/** The host name of the vendor's API. */
export function hetznerHosts(url: string): VendorHosts {
  return { 'api.hetzner.cloud': new URL(url).origin }
}

/** Starts a simulated Hetzner Cloud on a loopback port; its state is in memory. */
export async function startHetzner(options: HetznerOptions): Promise<Hetzner> {
  const { now = Date.now, actionMs } = options
  const action = actionMs === undefined ? usualAction : { fromMs: actionMs, toMs: actionMs }
  const shared = makeCloudControl(options.quota ?? 10)
  const state = makeState({ quota: shared.quota, behaviour: chooseBehaviour(options.unknowns), action, now })
  const tokens = makeTokens(options.tokens, tokenIn)
  const buckets = makeBuckets(now)
  buckets.set(options.callLimit)
  const control = makeHetznerControl(state, shared, {
    setCallLimit: (limit) => buckets.set(limit),
    tokens: tokens.control,
  })
  for (const server of options.servers ?? []) control.devices.add(server)
  const projectOf = (request: FastifyRequest) => tokens.find(request)?.projects[0] ?? 0
  const format: VendorFormat = {
    basePath,
    caller: tokens.caller,
    headers: (request) => ({
      'x-correlation-id': randomBytes(16).toString('hex'),
      ...buckets.headers(projectOf(request)),
    }),
    errorBody: (status, message, code) => errorBody(status, message, code === undefined ? {} : { code }),
  }
  const vendor = {
    name: 'Hetzner Cloud',
    format,
    routes: (app: FastifyInstance, intercepted: InterceptedCalls) =>
      serveApi(app, { state, tokens, buckets, projectOf, intercepted }),
    commands: hetznerCommands(control),
  }
  return { ...(await startSimulatedCloud(vendor, shared, options)), control }
}

type Parts = {
  state: State
  tokens: ReturnType<typeof makeTokens<number>>
  buckets: ReturnType<typeof makeBuckets>
  projectOf: (request: FastifyRequest) => number
  intercepted: InterceptedCalls
}

function serveApi(app: FastifyInstance, { state, tokens, buckets, projectOf, intercepted }: Parts): void {
  app.addHook('onRequest', async (request) => {
    state.runDue()
    const token = tokens.find(request)
    if (!token) throw refused(401)
    if (!buckets.take(projectOf(request))) throw refused(429)
    if (token.readOnly && request.method !== 'GET')
      throw new ApiError(401, 'token_readonly', { message: 'this token may only read' })
  })
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof ApiError) return reply.code(error.status).send(errorBody(error.status, error.message, error))
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
    if (status === 500) console.error(error)
    return reply.code(status).send(errorBody(status))
  })
  const known: RouteMatcher[] = []
  app.addHook('onRoute', ({ url }) => void known.push(routeMatcher(url)))
  app.setNotFoundHandler(({ method, url }) => {
    throw refused(known.some((isAt) => isAt(method, url.split('?')[0] ?? '')) ? 405 : 404)
  })
  const context = { state, projectOf, faultOf: intercepted.faultOf }
  floatingIpRoutes(app, context)
  serverRoutes(app, context)
  sshKeyRoutes(app, context)
  catalogueRoutes(app, context)
}

/** Makes a bucket of calls for each project, which regains one call at an interval until it is full. */
function makeBuckets(now: () => number) {
  let limit: CallLimit
  let buckets = new Map<number, { left: number; atMs: number }>()
  const bucketOf = (project: number, { calls, refillMs }: NonNullable<CallLimit>) => {
    const bucket = buckets.get(project) ?? { left: calls, atMs: now() }
    const more = Math.floor((now() - bucket.atMs) / refillMs)
    const filled = { left: Math.min(calls, bucket.left + more), atMs: bucket.atMs + more * refillMs }
    buckets.set(project, filled)
    return filled
  }
  return {
    set(wanted: CallLimit) {
      limit = wanted
      buckets = new Map()
    },
    take(project: number): boolean {
      if (!limit) return true
      const bucket = bucketOf(project, limit)
      bucket.left -= 1
      if (bucket.left < 0) bucket.left = 0
      else return true
      return false
    },
    headers(project: number): Record<string, string> {
      const { calls, refillMs } = limit ?? { calls: 3600, refillMs: 1000 }
      const left = limit ? bucketOf(project, limit).left : calls
      const fullAtMs = now() + (calls - left) * refillMs
      return {
        'ratelimit-limit': String(calls),
        'ratelimit-remaining': String(left),
        'ratelimit-reset': String(Math.ceil(fullAtMs / 1000)),
      }
    },
  }
}

function tokenIn(request: FastifyRequest): string | undefined {
  return /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
}
