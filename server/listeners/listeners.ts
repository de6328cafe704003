import type { FastifyInstance } from 'fastify'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { timerMs } from '../../lib/time-limit.ts'
import type { CertSource } from '../../certs/cert-source.ts'
import { type AdmissionOptions, admission } from '../../webhooks/admission.ts'
import type { KnownClients } from './client-certificates.ts'
import type { StatusPage } from '../../status-page/status-page.ts'
import { type HealthOptions, addHealth, addStatusPage } from './health.ts'
import { type Address, type PortUse, portOpener } from './open-port.ts'
import { type TlsOptions, tlsApp } from './tls-app.ts'
import type { Log } from '../../kube/log.ts'
import type { ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'

export type ListenersOptions = {
  certs: CertSource
  tls: TlsOptions
  /** Absent if this process answers no webhooks. */
  webhooks: ({ at: Address; clients: KnownClients | undefined } & AdmissionOptions) | undefined
  /** `page`: the status page, if this port shows it. */
  health: { at: Address; page: StatusPage | undefined } & HealthOptions
  log: Log
}

export type Listeners = {
  /** Reports that we are not ready, still answers late clients for `delayMs`, then closes. */
  close(delayMs: number): Promise<void>
}

/**
 * By default an API server has at most 600 requests in progress, each of which calls one webhook at a time. Probes and
 * Prometheus need a handful of connections.
 */
const maxConnections: Record<PortUse, number> = { webhooks: 2_000, health: 200 }

/** Opens the HTTPS ports of the process: one for the API server's reviews, one for health and metrics. */
export async function openListeners(options: ListenersOptions): Promise<Listeners> {
  const ports = makePorts(options.log)
  try {
    await openPorts(ports, options)
  } catch (error) {
    // A failed process no longer changes anything: an open port would answer from stale knowledge.
    await ports.close()
    throw error
  }
  return {
    async close(delayMs) {
      ports.startClosing()
      await sleep(timerMs(delayMs))
      // Read what has arrived meanwhile: a connection whose first request is still buffered is not unused.
      await turn()
      await ports.close()
    },
  }
}

async function openPorts(ports: Ports, { certs, tls, webhooks, health }: ListenersOptions): Promise<void> {
  if (webhooks) {
    const app = tlsApp(certs, tls, webhooks.clients)
    await app.register(admission, webhooks)
    await ports.open('webhooks', app, webhooks.at)
  }
  const shutdown = { name: 'shutdown', problem: () => (ports.isClosing() ? 'shutting down' : undefined) }
  const app = tlsApp(certs, tls)
  addHealth(app, { ...health, ready: [...health.ready, shutdown] })
  if (health.page) addStatusPage(app, health.page)
  await ports.open('health', app, health.at)
}

/** The open ports. */
type Ports = {
  open(use: PortUse, app: FastifyInstance, at: Address): Promise<void>
  isClosing(): boolean
  /** From now on each answer ends its connection. */
  startClosing(): void
  close(): Promise<void>
}

function makePorts(log: Log): Ports {
  let isClosing = false
  const apps: FastifyInstance[] = []
  const connections: Connections[] = []
  const openPort = portOpener(log)
  return {
    async open(use, app, at) {
      // A client whose connection ends opens the next one to another replica, before this port closes.
      app.addHook('onSend', (...[, reply, , done]) => {
        if (isClosing) reply.header('connection', 'close')
        done()
      })
      apps.push(app)
      connections.push(limitConnections(app.server, maxConnections[use]))
      await openPort(use, at, (free) => app.listen(free))
    },
    isClosing: () => isClosing,
    startClosing() {
      isClosing = true
    },
    async close() {
      isClosing = true
      for (const open of connections) open.closeUnused()
      await Promise.all(apps.map((app) => app.close()))
    },
  }
}

type Connection = { remote: string; socket: Socket; requests: number; inFlight: number; restsSinceMs: number }

type Connections = {
  /** Closes the connections without a request so far, and every new one. */
  closeUnused: () => void
}

/**
 * Limits the number of connections. At the maximum, a new one replaces an idle one. Connections without a request go
 * first, so that callers who only occupy them keep no API server out.
 *
 * The server must also know connections without a request when it closes. API servers open connections ahead and may
 * never use them, and a closing Node server waits for such connections without a limit.
 */
export function limitConnections(server: Server, max: number): Connections {
  const connections = new Map<string, Connection>()
  const forget = (connection: Connection) => {
    if (connections.get(connection.remote) === connection) connections.delete(connection.remote)
  }
  let isClosing = false
  server.on('connection', (socket: Socket) => {
    if (isClosing) return void socket.destroy()
    if (connections.size >= max) {
      const replaced = leastNeeded(connections.values())
      if (!replaced) return void socket.destroy()
      forget(replaced)
      replaced.socket.destroy()
    }
    const remote = remoteOf(socket)
    const connection = { remote, socket, requests: 0, inFlight: 0, restsSinceMs: performance.now() }
    connections.set(remote, connection)
    socket.once('close', () => forget(connection))
  })
  // Requests arrive on the TLS socket, connections on the one below it. Both have the same remote address and port.
  server.on('request', ({ socket }: { socket: Socket }, response: ServerResponse) => {
    const connection = connections.get(remoteOf(socket))
    if (!connection) return
    connection.requests += 1
    connection.inFlight += 1
    response.once('close', () => {
      connection.inFlight -= 1
      connection.restsSinceMs = performance.now()
    })
  })
  return {
    closeUnused() {
      isClosing = true
      for (const { socket, requests } of connections.values()) if (requests === 0) socket.destroy()
    },
  }
}

/** The longest-idle connection, those without a request first; undefined if all are busy. */
function leastNeeded(connections: Iterable<Connection>): Connection | undefined {
  const resting = [...connections].filter(({ inFlight }) => inFlight === 0)
  const unused = resting.filter(({ requests }) => requests === 0)
  const candidates = unused.length > 0 ? unused : resting
  return candidates.reduce<Connection | undefined>(
    (oldest, next) => (oldest && oldest.restsSinceMs <= next.restsSinceMs ? oldest : next),
    undefined,
  )
}

function remoteOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
