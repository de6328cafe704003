import { names, serviceAccountUser } from './names.ts'

/** The identity of a webhook, from its code. */
export type WebhookFacts = {
  name: string
  path: string
  kind: 'mutating' | 'validating'
  operations: string[]
  resource: string
  /** Reviews only objects with this label, in our own namespace. Without it: Services in every other namespace. */
  label?: string
}

export type WebhookOptions = {
  namespace: string
  webhooks: WebhookFacts[]
  /** The first segment of every path: a caller that does not know it cannot make us reserve an address. */
  pathSecret: string
  /** The URL of a process outside the cluster; without it the API server calls its Service. */
  url?: string | undefined
}

const api = 'admissionregistration.k8s.io/v1'

/** The two webhook configurations. They omit caBundle: the program that issues the certificate owns this field. */
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
  return {
    name,
    clientConfig: url === undefined ? { service } : { url: new URL(path, url).href },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: [resource], operations, scope: 'Namespaced' }],
    admissionReviewVersions: ['v1'],
    matchPolicy: 'Equivalent',
    ...(webhook.label === undefined ? ofServices(webhook, namespace) : ofProbes(webhook.label, namespace)),
  }
}

function ofServices(webhook: WebhookFacts, namespace: string): object {
  const isMutating = webhook.kind === 'mutating'
  return {
    // Our outage must not stop a cluster: the controller completes what admission missed. A denial still counts.
    failurePolicy: 'Ignore',
    sideEffects: isMutating ? 'NoneOnDryRun' : 'None',
    timeoutSeconds: isMutating ? 10 : 5,
    ...(isMutating ? { reinvocationPolicy: 'IfNeeded' } : {}),
    // Services in our own namespace must not depend on our webhooks.
    namespaceSelector: { matchExpressions: [{ ...namespaceName, operator: 'NotIn', values: [namespace] }] },
    matchConditions: conditions(webhook, namespace),
  }
}

/** Only our probes match, so a failure blocks nobody: with `Fail` the API server says why it does not reach us. */
function ofProbes(label: string, namespace: string): object {
  return {
    failurePolicy: 'Fail',
    sideEffects: 'None',
    timeoutSeconds: 5,
    namespaceSelector: { matchExpressions: [{ ...namespaceName, operator: 'In', values: [namespace] }] },
    objectSelector: { matchExpressions: [{ key: label, operator: 'Exists' }] },
  }
}

const namespaceName = { key: 'kubernetes.io/metadata.name' }

/** The match conditions. The webhooks check them again, because API servers before 1.28 drop them. */
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
// The API server allows every other deletion without a call to us: our process may be down.
const isProtected = {
  name: 'is-protected',
  expression:
    "has(oldObject.metadata.annotations) && 'eip-admission.dev/protect' in oldObject.metadata.annotations && " +
    "oldObject.metadata.annotations['eip-admission.dev/protect'] == 'true'",
}
