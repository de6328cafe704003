import type { KubeClient } from '../../kube/client.ts'
import type { Secret, WebhookConfiguration } from '../../kube/objects.ts'
import { mutatingWebhookConfigurations, secrets, validatingWebhookConfigurations } from '../../kube/resource.ts'
import { apiServer } from '../fakes/api-server.ts'

export const secretName = { namespace: 'eip', name: 'eip-ca' }

/** A cluster with the objects that certificates need: the Secret and the webhook configurations. */
export type Cluster = {
  client: KubeClient
  /** The paths of the client's writes. */
  writes: string[]
  secret(): Secret | undefined
  putSecret(change: (secret: Secret) => void): void
  removeSecret(): void
  configurations(): WebhookConfiguration[]
  putConfiguration(configuration: WebhookConfiguration): void
  removeConfigurations(): void
}

/** An empty cluster. */
export function makeCluster(): Cluster {
  const api = apiServer()
  const secret = () => api.stored(secrets)[0]
  const configurations = () => [
    ...api.stored(mutatingWebhookConfigurations),
    ...api.stored(validatingWebhookConfigurations),
  ]
  return {
    client: api.client,
    writes: api.writes,
    secret,
    putSecret(change) {
      const changed: Secret = secret() ?? { apiVersion: 'v1', kind: 'Secret', metadata: { ...secretName } }
      change(changed)
      api.put(secrets, changed)
    },
    removeSecret: () => api.drop(secrets, secretName),
    configurations,
    putConfiguration: (configuration) => void api.put(resourceOf(configuration), configuration),
    removeConfigurations() {
      for (const configuration of configurations()) api.drop(resourceOf(configuration), configuration.metadata)
    },
  }
}

function resourceOf({ kind }: WebhookConfiguration) {
  return kind === 'MutatingWebhookConfiguration' ? mutatingWebhookConfigurations : validatingWebhookConfigurations
}
