import type { Base } from './base.ts'
import type { PageFacts } from '../status-page/model.ts'
import { type StatusPage, statusPage, paths } from '../status-page/status-page.ts'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { systemClock as clock } from '../kube/clock.ts'
import type { Log } from '../kube/log.ts'
import { nodeHttp } from '../lib/node-http.ts'
import type { Address } from './listeners/open-port.ts'

/** The status page with the facts of a process. */
export function makeStatusPage({ settings, log }: Base, facts: () => PageFacts): StatusPage {
  return statusPage({ facts, tokenFile: settings.process.statusPageTokenFile, log })
}

/** Serves the page on the loopback address that the operator set, if any, until the signal aborts. */
export function showOnLoopback({ settings, log }: Base, page: StatusPage, signal: AbortSignal): void {
  const { statusPageAddress: at } = settings.process
  if (at) void serveLoopbackPage(at, page, { log, signal })
}

/** Ends silent connections. */
const patience = { headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 30_000 }
const maxConnections = 50

const retryMs = 10_000

type Running = { log: Log; signal: AbortSignal }

/**
 * Serves the status page over plain HTTP on a loopback address until the signal aborts. If the port is taken, it
 * retries: the page must never keep the process from running.
 */
export async function serveLoopbackPage(at: Address, page: StatusPage, { log, signal }: Running): Promise<void> {
  const server = nodeHttp.createServer(patience, (request, response) => {
    if (request.url !== '/') return page(request, response)
    response.writeHead(302, { location: paths.page }).end()
  })
  server.maxConnections = maxConnections
  for (let tries = 1; !signal.aborted; tries += 1) {
    const problem = await listen(server, at)
    if (problem === undefined) break
    log[tries === 1 ? 'warn' : 'debug']({ ...at, error: problem }, 'the status page cannot listen; trying again')
    await clock.sleep(retryMs, signal)
  }
  if (!signal.aborted) await once(signal, 'abort')
  server.close()
  server.closeAllConnections()
}

/** Why the server cannot listen; undefined if it does. */
async function listen(server: Server, at: Address): Promise<string | undefined> {
  try {
    await once(server.listen(at), 'listening')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown error'
  }
}
