import type { FastifyInstance, FastifyRequest } from 'fastify'
import { command, count, flag, milliseconds } from '../command.ts'
import { makeCloudControl } from '../control.ts'
import type { FaultOf } from '../intercept-calls.ts'
import { type RateLimit, makeRateCounter } from '../rate-limit.ts'
import { type CloudOptions, startSimulatedCloud } from '../simulated-cloud.ts'
import { chooseValues } from '../unknown-behaviour.ts'
import type { VendorHosts } from '../vendor-proxy.ts'
import { makeAccess, makeFinders } from './access.ts'
import { accountRoutes } from './account-routes.ts'
import { catalogueRoutes } from './catalogue-routes.ts'
import { type NewServer, makeCherryControl } from './cherry-control.ts'
import { errorBody, refused } from './errors.ts'
import { ipRoutes } from './ip-routes.ts'
import { projectRoutes } from './project-routes.ts'
import { serverRoutes } from './server-routes.ts'
import { type State, type StateOptions, makeState } from './state.ts'
import { type UnknownBehaviour, behaviourChoices } from './unknown-behaviour.ts'

/** A project may have 256 floating IPs. */
export type CherryServersOptions = CloudOptions<number, NewServer, UnknownBehaviour> &
  Pick<StateOptions, 'projects'> & {
    /** The vendor may refuse more than four calls a second. When absent, no call is refused. */
    callLimit?: CallLimit
    /** How long it takes until a new server is active. */
    provisioningMs?: number
    /** How long a project waits for its ASN after BGP is enabled for a server. */
    localAsnMs?: number
  }

/** How many calls one client may send; with `retryAfter` a 429 has that header. `undefined` is no limit. */
type CallLimit = (RateLimit & { retryAfter?: boolean }) | undefined

export type CherryServers = Awaited<ReturnType<typeof startCherryServers>>

const basePath = '/v1'

/** The host name of the vendor's API. */
export function cherryServersHosts(url: string): VendorHosts {
  return { 'api.cherryservers.com': new URL(url).origin }
}

/** Starts a simulated Cherry Servers. Its `url` includes the base path `/v1`. */
export async function startCherryServers(options: CherryServersOptions) {
  const { projects, now = Date.now, provisioningMs = 2000, localAsnMs = 1000 } = options
  const shared = makeCloudControl(options.quota ?? 256)
  const behaviour = chooseValues(behaviourChoices, options.unknowns)
  const state = makeState({ projects, quota: shared.quota, behaviour, provisioningMs, localAsnMs, now })
  const access = makeAccess(options.tokens)
  const callLimiter = makeCallLimiter(now)
  callLimiter.control.setCallLimit(options.callLimit)
  const control = { ...makeCherryControl(state, shared, access.control), ...callLimiter.control }
  for (const server of options.servers ?? []) control.devices.add(server)
  const vendor = {
    name: 'Cherry Servers',
    basePath,
    state,
    control,
    caller: access.caller,
    errorBody,
    routes(app: FastifyInstance, faultOf: FaultOf) {
      app.addHook('onRequest', async (request, reply) => {
        const { isOver, retryAfterSeconds } = callLimiter.count(request.ip)
        if (isOver && retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
        if (isOver) throw refused(429)
        if (!isPublic(state, request)) access.authenticate(request)
      })
      const cherry = { state, find: makeFinders(state, access), faultOf }
      ipRoutes(app, cherry)
      serverRoutes(app, cherry)
      projectRoutes(app, cherry, access)
      accountRoutes(app, cherry)
      catalogueRoutes(app, cherry)
    },
  }
  return startSimulatedCloud(vendor, options)
}

function isPublic({ behaviour }: State, request: FastifyRequest): boolean {
  const { url = '' } = request.routeOptions
  const open = behaviour.regionsNeedToken === 'no' ? ['/plans', '/regions'] : ['/plans']
  return request.method === 'GET' && open.some((path) => url === basePath + path)
}

/** Makes a limiter that counts calls by the address of the client, whatever token they carry. */
function makeCallLimiter(now: () => number) {
  let current: { counter: ReturnType<typeof makeRateCounter>; retryAfter: boolean } | undefined
  const set = (limit: CallLimit) => {
    current = limit && { counter: makeRateCounter(limit, now), retryAfter: limit.retryAfter ?? false }
  }
  return {
    control: {
      setCallLimit: command(
        {
          route: 'PUT /call-limit',
          help: 'Limits the calls of a client. With "retryAfter" a 429 has a Retry-After header.',
          example: '{"calls":4,"perMs":1000,"retryAfter":true}',
          fields: { calls: count, perMs: milliseconds },
          optional: { retryAfter: flag },
        },
        set,
      ),
      endCallLimit: command({ route: 'DELETE /call-limit', help: 'Removes the limit.' }, () => set(undefined)),
    },
    count(client: string): { isOver: boolean; retryAfterSeconds?: number } {
      if (!current) return { isOver: false }
      const { isOver, resetAtMs } = current.counter.count(client)
      return { isOver, ...(current.retryAfter && { retryAfterSeconds: Math.ceil((resetAtMs - now()) / 1000) }) }
    },
  }
}
