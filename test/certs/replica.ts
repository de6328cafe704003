import { fromCaBundle } from '../../certs/bundle.ts'
import type { CertSource } from '../../certs/cert-source.ts'
import { selfSigned, type SelfSignedOptions } from '../../certs/self-signed.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { ClientConfig, WebhookConfiguration } from '../../kube/objects.ts'
import { type Cluster, makeCluster, secretName } from './cluster.ts'

export const second = 1000
export const day = 24 * 60 * 60 * second

/** A date that only the test changes. */
export type Time = { ms: number }

export const realTime = (): Time => ({ ms: Date.now() })

export const names = { mutating: 'eip-mutating', validating: 'eip-validating' }

export function mutating(...clientConfigs: ClientConfig[]): WebhookConfiguration {
  return configuration('MutatingWebhookConfiguration', names.mutating, clientConfigs)
}

export function validating(...clientConfigs: ClientConfig[]): WebhookConfiguration {
  return configuration('ValidatingWebhookConfiguration', names.validating, clientConfigs)
}

function configuration(kind: WebhookConfiguration['kind'], name: string, clientConfigs: ClientConfig[]) {
  const webhooks = clientConfigs.map((clientConfig, place) => ({ name: `w${place}.eip-admission.dev`, clientConfig }))
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, webhooks }
}

/** The caBundle of the first stored webhook: what the API server trusts. */
export function storedBundle(cluster: Cluster): string {
  return fromCaBundle(cluster.configurations()[0]?.webhooks?.[0]?.clientConfig.caBundle)
}

export const service: ClientConfig = { service: { namespace: 'eip', name: 'hook', path: '/mutate-service' } }

/** A cluster with both configurations, without caBundles. */
export function installed(): Cluster {
  const cluster = makeCluster()
  cluster.putConfiguration(mutating(service, service))
  cluster.putConfiguration(validating(service))
  return cluster
}

export type Line = { level: string; fields: Record<string, unknown>; message: string }

export type Replica = {
  source: CertSource
  log: Line[]
  /** Runs up to the next pause between checks. */
  turn: () => Promise<void>
  stop: () => void
}

/** Our process. The test ends its pauses. */
export function replica(client: KubeClient, time: Time, options: Partial<SelfSignedOptions> = {}): Replica {
  const log: Line[] = []
  const stopped = new AbortController()
  const write = (level: string) => (fields: object, message: string) =>
    log.push({ level, fields: { ...fields }, message })
  let paused = Promise.withResolvers<void>()
  let wake: (() => void) | undefined
  const source = selfSigned({
    client,
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    secret: secretName,
    configurations: names,
    clock: {
      now: () => time.ms,
      date: () => new Date(time.ms),
      sleep: () => {
        paused.resolve()
        return new Promise((resolve) => (wake = resolve))
      },
    },
    ...options,
  })
  return {
    source,
    log,
    async turn() {
      paused = Promise.withResolvers<void>()
      if (wake) wake()
      else void source.start(stopped.signal)
      await paused.promise
    },
    stop() {
      stopped.abort()
      wake?.()
    },
  }
}
