import type { FastifyInstance } from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CertSource } from '../../certs/cert-source.ts'
import { type AdmissionOptions, admission } from '../../webhooks/admission.ts'
import type { KnownClients } from './client-certificates.ts'
import { type HealthOptions, addHealth } from './health.ts'
import { idleConnections } from './idle-connections.ts'
import { tlsApp } from './tls-app.ts'

export type ListenersOptions = {
  certs: CertSource
  /** Absent where this process answers no webhooks. */
  webhooks: ({ at: Address; clients: KnownClients | undefined } & AdmissionOptions) | undefined
  health: { at: Address } & HealthOptions
}

export type Address = { host: string; port: number }

export type Listeners = {
  /** Reports that we are not ready, still answers for `delayMs` the clients that do not know it yet, then closes. */
  close(delayMs: number): Promise<void>
}

/** Opens the HTTPS ports of the process: one for the API server's reviews, one for health and metrics. */
export async function openListeners({ certs, webhooks, health }: ListenersOptions): Promise<Listeners> {
  let isClosing = false
  const shutdown = { name: 'shutdown', problem: () => (isClosing ? 'shutting down' : undefined) }
  const apps: FastifyInstance[] = []
  const closeIdle: (() => void)[] = []
  const open = async (app: FastifyInstance, at: Address) => {
    // A client that has to close its connection opens the next one to another replica, before this port closes.
    app.addHook('onSend', (...[, reply, , done]) => {
      if (isClosing) reply.header('connection', 'close')
      done()
    })
    apps.push(app)
    closeIdle.push(idleConnections(app.server))
    await app.listen(at)
  }

  if (webhooks) {
    const app = tlsApp(certs, webhooks.clients)
    await app.register(admission, webhooks)
    await open(app, webhooks.at)
  }
  const app = tlsApp(certs)
  addHealth(app, { ...health, ready: [...health.ready, shutdown] })
  await open(app, health.at)
  return {
    async close(delayMs) {
      isClosing = true
      await sleep(delayMs)
      for (const close of closeIdle) close()
      await Promise.all(apps.map((running) => running.close()))
    },
  }
}
