import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type FastifyInstance, type FastifyServerFactory, fastify } from 'fastify'
import { type Command, type CloudControl, serveControl } from './control.ts'
import { sharedCommands } from './shared-commands.ts'
import { makeCallLog } from './call-log.ts'
import { makeFaults } from './faults.ts'
import { parseJsonBodies } from './json-bodies.ts'
import { makeLatency } from './latency.ts'
import { makeQuota } from './quota.ts'
import { type InterceptedCalls, type VendorFormat, interceptCalls } from './intercept-calls.ts'
import { validatorOf } from './validators.ts'

/** A vendor's part of a simulated cloud: its API below a base path, and its own commands of the control API. */
export type Vendor = {
  name: string
  format: VendorFormat
  routes(app: FastifyInstance, intercepted: InterceptedCalls): void
  commands: Command[]
}

export type RunningCloud = {
  /** The base URL of the vendor's API. */
  url: string
  controlUrl: string
  close: () => Promise<void>
}

/** Makes the controls that all vendors share. */
export function makeCloudControl(quota: number): CloudControl {
  return { latency: makeLatency(), faults: makeFaults(), calls: makeCallLog(), quota: makeQuota(quota) }
}

/** Where a simulated cloud listens: by default on a free loopback port without TLS. */
export type ListenAt = {
  port?: number
  /** The address to listen on. */
  host?: string
  /** A certificate and its key: clients send no token to another machine without TLS. */
  tls?: { cert: string; key: string }
}

/** Serves a vendor's API and the control API on one port, a free one when `port` is 0. */
export async function startSimulatedCloud(
  vendor: Vendor,
  control: CloudControl,
  { port = 0, host = '127.0.0.1', tls }: ListenAt = {},
): Promise<RunningCloud> {
  const { name, format, commands } = vendor
  const closing = new AbortController()
  const app = fastify({
    serverFactory: serverFactory(tls),
    forceCloseConnections: true,
    exposeHeadRoutes: false,
  })
  app.setValidatorCompiler(validatorOf)
  // Two scopes, so that hooks on calls of the vendor's API do not apply to the control API.
  app.register(
    async (api) => {
      parseJsonBodies(api)
      vendor.routes(api, interceptCalls(api, control, { format, closing: closing.signal }))
    },
    { prefix: format.basePath },
  )
  app.register((scope) => serveControl(scope, name, [...sharedCommands(control), ...commands]), { prefix: '/control' })
  const address = await app.listen({ port, host })
  const root = tls ? address.replace('http:', 'https:') : address
  return {
    url: `${root}${format.basePath}`,
    controlUrl: `${root}/control`,
    close() {
      closing.abort()
      return app.close()
    },
  }
}

function serverFactory(tls: ListenAt['tls']): FastifyServerFactory {
  return (handler) => (tls ? createTlsServer(tls, handler) : createServer(handler))
}
