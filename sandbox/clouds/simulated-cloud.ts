import { type FastifyInstance, fastify } from 'fastify'
import { type AccountControl, type Command, type CloudControl, serveControl } from './control.ts'
import { sharedCommands } from './shared-commands.ts'
import { makeCallLog } from './call-log.ts'
import { makeFaults } from './faults.ts'
import { jsonWhereItSays } from './json-bodies.ts'
import { makeLatency } from './latency.ts'
import { makeQuota } from './quota.ts'
import { type InterceptedCalls, type VendorFormat, interceptCalls } from './intercept-calls.ts'

/** A vendor's part of a simulated cloud: its API below a base path, its own commands at the door. */
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

/** A simulated cloud, for those who need not know whose it is. */
export type SimulatedCloud = RunningCloud & { door: AccountControl }

/** The parts of the door that all vendors share. */
export function makeCloudControl(quota: number): CloudControl {
  return { latency: makeLatency(), faults: makeFaults(), calls: makeCallLog(), quota: makeQuota(quota) }
}

/** Serves a vendor's API and its control door on one loopback port, a free one when `port` is 0. */
export async function startSimulatedCloud(vendor: Vendor, door: CloudControl, port = 0): Promise<RunningCloud> {
  const { name, format, commands } = vendor
  const closing = new AbortController()
  const app = fastify({
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    // A field that the door does not know is a typing mistake, to be told and not to be dropped.
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false } },
  })
  // Two scopes: what is hooked to the API's calls cannot reach the door's.
  app.register(
    async (api) => {
      jsonWhereItSays(api)
      vendor.routes(api, interceptCalls(api, door, { format, closing: closing.signal }))
    },
    { prefix: format.basePath },
  )
  app.register((control) => serveControl(control, name, [...sharedCommands(door), ...commands]), { prefix: '/control' })
  const root = await app.listen({ port, host: '127.0.0.1' })
  return {
    url: `${root}${format.basePath}`,
    controlUrl: `${root}/control`,
    close() {
      closing.abort()
      return app.close()
    },
  }
}
