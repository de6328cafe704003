import type { KubeObject } from '../kube/objects.ts'
import { elasticIPDefinition } from './elastic-ip-crd.ts'
import { names } from './names.ts'
import { type RbacOptions, rbac } from './rbac.ts'
import { type WebhookOptions, webhookConfigurations } from './webhook-configurations.ts'

export type InstallOptions = WebhookOptions & RbacOptions

/** All objects that a cluster needs before the process starts, in the order in which they are applied. */
export function installObjects(options: InstallOptions): KubeObject[] {
  const { namespace, url, pathSecret } = options
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    webhookSecret(namespace, pathSecret),
    elasticIPDefinition,
    ...rbac(options),
    ...(url === undefined ? [webhookService(namespace)] : []),
    ...webhookConfigurations(options),
  ]
  return objects as KubeObject[]
}

function webhookService(namespace: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: names.webhookService, namespace },
    spec: {
      selector: { 'app.kubernetes.io/name': 'eip-admission' },
      ports: [{ name: 'webhook', port: 443, targetPort: 10260, protocol: 'TCP' }],
    },
  }
}

function webhookSecret(namespace: string, pathSecret: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: names.webhookSecret, namespace },
    type: 'Opaque',
    data: { path: Buffer.from(pathSecret).toString('base64') },
  }
}
