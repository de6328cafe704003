import { names, serviceAccountUser } from './names.ts'

export type WebhookOptions = {
  namespace: string
  webhooks: { name: string; path: string; kind: 'mutating' | 'validating' }[]
  /** Where the process listens when it runs outside the cluster; else its Service is called. */
  url?: string | undefined
}

const api = 'admissionregistration.k8s.io/v1'

/** What the API server sends to which webhook. caBundle is left out: whoever has the certificate owns that field. */
export function webhookConfigurations(options: WebhookOptions): object[] {
  return [
    configuration('MutatingWebhookConfiguration', names.mutatingConfiguration, entries('mutating', options)),
    configuration('ValidatingWebhookConfiguration', names.validatingConfiguration, entries('validating', options)),
  ]
}

function configuration(kind: string, name: string, webhooks: object[]): object {
  return { apiVersion: api, kind, metadata: { name }, webhooks }
}

function entries(kind: 'mutating' | 'validating', options: WebhookOptions): object[] {
  return options.webhooks.filter((webhook) => webhook.kind === kind).map((webhook) => entry(webhook, options))
}

function entry(webhook: WebhookOptions['webhooks'][number], options: WebhookOptions): object {
  const { namespace, url } = options
  const service = { namespace, name: names.webhookService, path: webhook.path, port: 443 }
  const mutating = webhook.kind === 'mutating'
  return {
    name: webhook.name,
    clientConfig: url === undefined ? { service } : { url: new URL(webhook.path, url).href },
    rules: [
      {
        apiGroups: [''],
        apiVersions: ['v1'],
        resources: ['services'],
        operations: ['CREATE', 'UPDATE'],
        scope: 'Namespaced',
      },
    ],
    admissionReviewVersions: ['v1'],
    // Our outage must not stop a cluster: what admission missed the controller completes. A refusal counts all the same.
    failurePolicy: 'Ignore',
    matchPolicy: 'Equivalent',
    sideEffects: mutating ? 'NoneOnDryRun' : 'None',
    timeoutSeconds: mutating ? 10 : 5,
    ...(mutating ? { reinvocationPolicy: 'IfNeeded' } : {}),
    // Our own Services must not wait for ourselves.
    namespaceSelector: {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [namespace] }],
    },
    matchConditions: conditions(namespace),
  }
}

/** Checked again by the webhooks themselves: API servers before 1.28 drop these. */
function conditions(namespace: string): object[] {
  return [
    {
      name: 'is-or-was-load-balancer',
      expression: "object.spec.type == 'LoadBalancer' || (oldObject != null && oldObject.spec.type == 'LoadBalancer')",
    },
    { name: 'no-other-class', expression: '!has(object.spec.loadBalancerClass)' },
    { name: 'not-terminating', expression: 'oldObject == null || !has(oldObject.metadata.deletionTimestamp)' },
    { name: 'not-ourselves', expression: `request.userInfo.username != '${serviceAccountUser(namespace)}'` },
  ]
}
