import type { FastifyInstance } from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CertSource } from '../../certs/cert-source.ts'
import { type AdmissionOptions, admission } from '../../webhooks/admission.ts'
import type { KnownClients } from './client-certificates.ts'
import { type HealthOptions, addHealth } from './health.ts'
import { silentConnections } from './silent-connections.ts'
import { tlsApp } from './tls-app.ts'

export type ListenersOptions = {
  certs: CertSource
  /** Absent where this process answers no webhooks. */
  webhooks: ({ at: Address; clients: KnownClients | undefined } & AdmissionOptions) | undefined
  health: { at: Address } & HealthOptions
}

export type Address = { host: string; port: number }

export type Listeners = {
  /** Says that we are not ready, answers for `delayMs` whoever has not heard it yet, then closes. */
  close(delayMs: number): Promise<void>
}

/** Opens the doors of the process: one for the API server's reviews, one for health and metrics. */
export async function openListeners({ certs, webhooks, health }: ListenersOptions): Promise<Listeners> {
  let closing = false
  const drain = { name: 'shutdown', wrong: () => (closing ? 'shutting down' : undefined) }
  const apps: FastifyInstance[] = []
  const silences: (() => void)[] = []
  const open = async (app: FastifyInstance, at: Address) => {
    // A client that is told to close opens its next connection elsewhere, and meets no door that shuts before its nose.
    app.addHook('onSend', (...[, reply, , done]) => {
      if (closing) reply.header('connection', 'close')
      done()
    })
    apps.push(app)
    silences.push(silentConnections(app.server))
    await app.listen(at)
  }

  if (webhooks) {
    const app = tlsApp(certs, webhooks.clients)
    await app.register(admission, webhooks)
    await open(app, webhooks.at)
  }
  const app = tlsApp(certs)
  addHealth(app, { ...health, ready: [...health.ready, drain] })
  await open(app, health.at)
  return {
    async close(delayMs) {
      closing = true
      await sleep(delayMs)
      for (const breakSilence of silences) breakSilence()
      await Promise.all(apps.map((open) => open.close()))
    },
  }
}
