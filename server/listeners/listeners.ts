import type { FastifyInstance } from 'fastify'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { timerMs } from '../../lib/time-limit.ts'
import type { CertSource } from '../../certs/cert-source.ts'
import { type AdmissionOptions, admission } from '../../webhooks/admission.ts'
import type { KnownClients } from './client-certificates.ts'
import type { StatusPage } from '../../status-page/status-page.ts'
import { type HealthOptions, addHealth, addStatusPage } from './health.ts'
import { type Connections, limitConnections } from './connections.ts'
import { type Address, type PortUse, portOpener } from './open-port.ts'
import { type TlsOptions, tlsApp } from './tls-app.ts'
import type { Log } from '../../kube/log.ts'

export type ListenersOptions = {
  certs: CertSource
  tls: TlsOptions
  /** Absent where this process answers no webhooks. */
  webhooks: ({ at: Address; clients: KnownClients | undefined } & AdmissionOptions) | undefined
  /** `page`: the status page, where this port shows it. */
  health: { at: Address; page: StatusPage | undefined } & HealthOptions
  log: Log
}

export type Listeners = {
  /** Reports that we are not ready, still answers for `delayMs` the clients that do not know it yet, then closes. */
  close(delayMs: number): Promise<void>
}

/**
 * An API server has at most 600 requests in progress by default, and each calls one webhook at a time. Probes and
 * Prometheus need a handful of connections.
 */
const maxConnections: Record<PortUse, number> = { webhooks: 2_000, health: 200 }

/** Opens the HTTPS ports of the process: one for the API server's reviews, one for health and metrics. */
export async function openListeners(options: ListenersOptions): Promise<Listeners> {
  const ports = makePorts(options.log)
  try {
    await openPorts(ports, options)
  } catch (error) {
    // A process that fails changes nothing any more: a port that stays open would answer from what it last knew.
    await ports.close()
    throw error
  }
  return {
    async close(delayMs) {
      ports.startClosing()
      await sleep(timerMs(delayMs))
      // Reads what has arrived meanwhile: a connection whose first request waits in its buffer is not unused.
      await turn()
      options.health.page?.stop()
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

/** The ports that are open so far. */
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
      // A client that has to close its connection opens the next one to another replica, before this port closes.
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
