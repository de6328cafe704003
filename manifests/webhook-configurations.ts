import { names, serviceAccountUser } from './names.ts'

/** A webhook as its code describes it. */
export type WebhookFacts = {
  name: string
  path: string
  kind: 'mutating' | 'validating'
  operations: string[]
  resource: string
}

export type WebhookOptions = {
  namespace: string
  webhooks: WebhookFacts[]
  /** First segment of every path: whoever does not know it cannot make us reserve anything. */
  pathSecret: string
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

function entry(webhook: WebhookFacts, options: WebhookOptions): object {
  const { namespace, url, pathSecret } = options
  const { name, operations, resource } = webhook
  const path = `/${pathSecret}${webhook.path}`
  const service = { namespace, name: names.webhookService, path, port: 443 }
  const mutating = webhook.kind === 'mutating'
  return {
    name,
    clientConfig: url === undefined ? { service } : { url: new URL(path, url).href },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: [resource], operations, scope: 'Namespaced' }],
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
    matchConditions: conditions(webhook, namespace),
  }
}

/** Checked again by the webhooks themselves: API servers before 1.28 drop these. */
function conditions({ operations, resource }: WebhookFacts, namespace: string): object[] {
  const deletes = operations.includes('DELETE')
  return [
    ...(deletes ? [isProtected] : [isOrWasLoadBalancer, noOtherClass, notTerminating]),
    ...(resource === 'services/status' ? [annotationsChange] : []),
    { name: 'not-ourselves', expression: `request.userInfo.username != '${serviceAccountUser(namespace)}'` },
  ]
}

const isOrWasLoadBalancer = {
  name: 'is-or-was-load-balancer',
  expression: "object.spec.type == 'LoadBalancer' || (oldObject != null && oldObject.spec.type == 'LoadBalancer')",
}
const noOtherClass = { name: 'no-other-class', expression: '!has(object.spec.loadBalancerClass)' }
const notTerminating = {
  name: 'not-terminating',
  expression: 'oldObject == null || !has(oldObject.metadata.deletionTimestamp)',
}
const annotationsChange = {
  name: 'annotations-change',
  expression:
    '(has(object.metadata.annotations) ? object.metadata.annotations : {}) != ' +
    '(has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {})',
}
// Every other delete passes without us: nobody waits for a process that may be down.
const isProtected = {
  name: 'is-protected',
  expression:
    "has(oldObject.metadata.annotations) && 'eip-admission.dev/protect' in oldObject.metadata.annotations && " +
    "oldObject.metadata.annotations['eip-admission.dev/protect'] == 'true'",
}
