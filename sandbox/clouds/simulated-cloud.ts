import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type FastifyInstance, type FastifyRequest, type FastifyServerFactory, fastify } from 'fastify'
import { ApiError } from './api-error.ts'
import { serveCommands } from './command.ts'
import type { CloudControl } from './control.ts'
import { parseJsonBodies } from './json-bodies.ts'
import { type FaultOf, type VendorFormat, interceptCalls } from './intercept-calls.ts'
import type { Scheduler } from './scheduler.ts'
import type { Token } from './tokens.ts'
import { validatorOf } from './validators.ts'

/** A vendor's part of a simulated cloud: its API below a base path, and the controls. */
type Vendor<Control extends CloudControl> = VendorFormat & {
  name: string
  state: Scheduler
  control: Control
  routes(app: FastifyInstance, faultOf: FaultOf): void
  /** A second API, whose calls do not pass the hooks of the first one. */
  otherRoutes?(app: FastifyInstance): void
  /** The error for an unknown path; 404 when absent. */
  unknownPath?: (request: FastifyRequest) => ApiError
}

export type RunningCloud<Control> = {
  /** The base URL of the vendor's API. */
  url: string
  controlUrl: string
  control: Control
  close: () => Promise<void>
}

/** Where a simulated cloud listens: by default on a free loopback port without TLS. */
export type ListenAt = {
  port?: number
  /** The address to listen on. */
  host?: string
  /** A certificate and its key: clients send no token to another machine without TLS. */
  tls?: { cert: string; key: string }
}

/** The options of every simulated cloud. */
export type CloudOptions<ProjectId, NewServer, Behaviour> = ListenAt & {
  tokens: Token<ProjectId>[]
  /** The servers at the start. */
  servers?: NewServer[]
  /** How many addresses a project may have. */
  quota?: number
  unknowns?: Partial<Behaviour>
  /** The clock for everything that takes time. */
  now?: () => number
}

/** Serves a vendor's API and the control API on one port, a free one when `port` is 0. Its state is in memory. */
export async function startSimulatedCloud<Control extends CloudControl>(
  vendor: Vendor<Control>,
  { port = 0, host = '127.0.0.1', tls }: ListenAt,
): Promise<RunningCloud<Control>> {
  const { name, basePath, control } = vendor
  const closing = new AbortController()
  const app = fastify({
    serverFactory: serverFactory(tls),
    forceCloseConnections: true,
    exposeHeadRoutes: false,
  })
  app.setValidatorCompiler(validatorOf)
  // Two scopes, so that hooks on calls of the vendor's API do not apply to the control API.
  app.register(async (api) => serveApi(api, vendor, closing.signal), { prefix: basePath })
  app.register((scope) => serveCommands(scope, name, control), { prefix: '/control' })
  const address = await app.listen({ port, host })
  const root = tls ? address.replace('http:', 'https:') : address
  return {
    url: `${root}${basePath}`,
    controlUrl: `${root}/control`,
    control,
    close() {
      closing.abort()
      return app.close()
    },
  }
}

function serveApi(api: FastifyInstance, vendor: Vendor<CloudControl>, closing: AbortSignal): void {
  const { state, control, errorBody, unknownPath = () => new ApiError(404, errorBody(404)) } = vendor
  parseJsonBodies(api)
  const faultOf = interceptCalls(api, control, { format: vendor, closing })
  api.addHook('onRequest', async () => state.runDue())
  api.setErrorHandler((error, _request, reply) => {
    if (error instanceof ApiError) return reply.code(error.status).send(error.body)
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
    if (status === 500) console.error(error)
    return reply.code(status).send(errorBody(status))
  })
  api.register(async (scope) => {
    scope.setNotFoundHandler((request) => {
      throw unknownPath(request)
    })
    vendor.routes(scope, faultOf)
  })
  api.register(async (scope) => vendor.otherRoutes?.(scope))
}

function serverFactory(tls: ListenAt['tls']): FastifyServerFactory {
  return (handler) => (tls ? createTlsServer(tls, handler) : createServer(handler))
}
