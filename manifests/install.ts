import type { KubeObject } from '../kube/objects.ts'
import { elasticIPDefinition } from './elastic-ip-crd.ts'
import { names } from '../settings/installed-names.ts'
import { type RbacOptions, rbac } from './rbac.ts'
import { type WebhookOptions, webhookConfigurations } from './webhook-configurations.ts'

export type InstallOptions = WebhookOptions & RbacOptions

/** All objects that a cluster needs before the process starts, in the order in which they are applied. */
export function installObjects(options: InstallOptions): KubeObject[] {
  const { namespace, url, pathSecret } = options
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    webhookSecret(namespace, { pathSecret, base64: (text) => Buffer.from(text).toString('base64') }),
    elasticIPDefinition,
    ...rbac(options),
    ...(url === undefined ? [webhookService(namespace, 10260)] : []),
    ...webhookConfigurations(options),
  ]
  return objects as KubeObject[]
}

/** The Service by which the API server calls the webhooks; the target port is a number or a name. */
export function webhookService(namespace: string, targetPort: number | string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: names.webhookService, namespace },
    spec: {
      selector: { 'app.kubernetes.io/name': 'eip-admission' },
      ports: [{ name: 'webhook', port: 443, targetPort, protocol: 'TCP' }],
    },
  }
}

/** The Secret with the segment of the webhooks' paths that only the API server should know. */
export function webhookSecret(
  namespace: string,
  { pathSecret, base64 }: { pathSecret: string; base64: (text: string) => string },
): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: names.webhookSecret, namespace },
    type: 'Opaque',
    data: { path: base64(pathSecret) },
  }
}
