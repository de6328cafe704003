import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { command, count, milliseconds } from '../command.ts'
import { makeCloudControl } from '../control.ts'
import type { FaultOf } from '../intercept-calls.ts'
import { type RouteMatcher, routeMatcher } from '../route-matcher.ts'
import { type CloudOptions, startSimulatedCloud } from '../simulated-cloud.ts'
import { type Tokens, bearerIn, makeTokens } from '../tokens.ts'
import { chooseValues } from '../unknown-behaviour.ts'
import type { VendorHosts } from '../vendor-proxy.ts'
import { catalogueRoutes } from './catalogue-routes.ts'
import { errorBody, refused, refusedFor } from './errors.ts'
import { floatingIpRoutes } from './floating-ip-routes.ts'
import { type NewServer, makeHetznerControl } from './hetzner-control.ts'
import { serverRoutes } from './server-routes.ts'
import { sshKeyRoutes } from './ssh-key-routes.ts'
import { type State, makeState } from './state.ts'
import { type UnknownBehaviour, behaviourChoices } from './unknown-behaviour.ts'

/** The project of a token is a number of this simulator: the API shows none. A new project may have 10 floating IPs. */
export type HetznerOptions = CloudOptions<number, NewServer, UnknownBehaviour> & {
  /** The calls that a project may send. When absent, none is refused. */
  callLimit?: CallLimit
  /** How long actions run: one to three seconds when absent. */
  actionMs?: number
}

/**
 * The calls that a project may send: a bucket of this size, which regains one call every `refillMs`. Undefined is no
 * limit.
 */
type CallLimit = { calls: number; refillMs: number } | undefined

/** The vendor documents no duration. Users and its clients' tests report these. */
const usualAction = { fromMs: 1_000, toMs: 3_000 }

/** The host name of the vendor's API. */
export function hetznerHosts(url: string): VendorHosts {
  return { 'api.hetzner.cloud': new URL(url).origin }
}

/** Starts a simulated Hetzner Cloud. Its `url` includes the base path `/v1`. */
export async function startHetzner(options: HetznerOptions) {
  const { now = Date.now, actionMs, unknowns } = options
  const action = actionMs === undefined ? usualAction : { fromMs: actionMs, toMs: actionMs }
  const shared = makeCloudControl(options.quota ?? 10)
  const state = makeState({ quota: shared.quota, behaviour: chooseValues(behaviourChoices, unknowns), action, now })
  const tokens = makeTokens(options.tokens, bearerIn)
  const buckets = makeBuckets(now)
  buckets.control.setCallLimit(options.callLimit)
  const control = { ...makeHetznerControl(state, shared, tokens.control), ...buckets.control }
  for (const server of options.servers ?? []) control.devices.add(server)
  const projectOf = (request: FastifyRequest) => tokens.find(request)?.projects[0] ?? 0
  const vendor = {
    name: 'Hetzner Cloud',
    basePath: '/v1',
    state,
    control,
    caller: tokens.caller,
    headers: (request: FastifyRequest) => ({
      'x-correlation-id': randomBytes(16).toString('hex'),
      ...buckets.headers(projectOf(request)),
    }),
    errorBody,
    ...routesOf({ state, tokens, buckets, projectOf }),
  }
  return startSimulatedCloud(vendor, options)
}

type Parts = {
  state: State
  tokens: Tokens<number>
  buckets: ReturnType<typeof makeBuckets>
  projectOf: (request: FastifyRequest) => number
}

function routesOf({ state, tokens, buckets, projectOf }: Parts) {
  const known: RouteMatcher[] = []
  return {
    routes(app: FastifyInstance, faultOf: FaultOf) {
      app.addHook('onRequest', async (request) => {
        const token = tokens.find(request)
        if (!token) throw refused(401)
        if (!buckets.take(projectOf(request))) throw refused(429)
        if (token.readOnly && request.method !== 'GET')
          throw refusedFor(401, 'token_readonly', { message: 'this token may only read' })
      })
      app.addHook('onRoute', ({ url }) => void known.push(routeMatcher(url)))
      const context = { state, projectOf, faultOf }
      floatingIpRoutes(app, context)
      serverRoutes(app, context)
      sshKeyRoutes(app, context)
      catalogueRoutes(app, context)
    },
    unknownPath: ({ method, url }: FastifyRequest) =>
      refused(known.some((isAt) => isAt(method, url.split('?')[0] ?? '')) ? 405 : 404),
  }
}

const callLimit = {
  route: 'PUT /call-limit',
  help: 'Limits the calls of a project: a bucket, and how soon it gets one more.',
  example: '{"calls":3600,"refillMs":1000}',
  fields: { calls: count, refillMs: milliseconds },
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
  const set = (wanted: CallLimit) => {
    limit = wanted
    buckets = new Map()
  }
  return {
    control: {
      setCallLimit: command(callLimit, set),
      endCallLimit: command({ route: 'DELETE /call-limit', help: 'Removes the limit.' }, () => set(undefined)),
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
