import { withoutClass } from '../settings/service-policy.ts'
import { names, serviceAccountUser } from '../settings/installed-names.ts'

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
  /** The classes of Services that are reviewed; when absent, only Services without a class. */
  classes?: readonly string[]
  /** The operator's choices about the reviews of Services; the defaults when absent. */
  policy?: WebhookPolicy
}

/** Parts of the webhooks of Services, and the annotations of both configurations. */
export type WebhookPolicy = {
  failurePolicy: unknown
  /** The classes of Services that are reviewed, separated by commas. */
  classes: string
  /** Items for a list of namespaces whose Services are not reviewed. */
  excludedNamespaces: unknown[]
  /** More requirements for the labels of a namespace. */
  namespaceExpressions: unknown[]
  namespaceLabels: unknown
  objectSelector: unknown
  annotations: unknown
  /** How the API server calls the webhook with this path. */
  clientConfig: (path: string) => object
}

function defaultPolicy({ namespace, url, classes = [withoutClass] }: WebhookOptions): WebhookPolicy {
  return {
    // Our outage must not stop a cluster: the controller completes what admission missed. A denial still counts.
    failurePolicy: 'Ignore',
    classes: classes.join(','),
    excludedNamespaces: [],
    namespaceExpressions: [],
    namespaceLabels: undefined,
    objectSelector: undefined,
    annotations: undefined,
    clientConfig: (path) => (url === undefined ? byService(namespace, path) : { url: new URL(path, url).href }),
  }
}

/** The client configuration by which the API server calls the Service in this namespace. */
export function byService(namespace: string, path: string): { service: object } {
  return { service: { namespace, name: names.webhookService, path, port: 443 } }
}

const api = 'admissionregistration.k8s.io/v1'

/** The two webhook configurations. They omit caBundle: the program that issues the certificate owns this field. */
export function webhookConfigurations(options: WebhookOptions): object[] {
  const policy = options.policy ?? defaultPolicy(options)
  const configuration = (kind: string, name: string, webhooks: object[]) => {
    const { annotations } = policy
    const metadata = { name, ...(annotations === undefined ? {} : { annotations }) }
    return { apiVersion: api, kind, metadata, webhooks }
  }
  return [
    configuration(
      'MutatingWebhookConfiguration',
      names.mutatingConfiguration,
      entries('mutating', { ...options, policy }),
    ),
    configuration(
      'ValidatingWebhookConfiguration',
      names.validatingConfiguration,
      entries('validating', { ...options, policy }),
    ),
  ]
}

type Decided = WebhookOptions & { policy: WebhookPolicy }

function entries(kind: 'mutating' | 'validating', options: Decided): object[] {
  return options.webhooks.filter((webhook) => webhook.kind === kind).map((webhook) => entry(webhook, options))
}

function entry(webhook: WebhookFacts, options: Decided): object {
  const { namespace, pathSecret, policy } = options
  const { name, operations, resource } = webhook
  const path = `/${pathSecret}${webhook.path}`
  return {
    name,
    clientConfig: policy.clientConfig(path),
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: [resource], operations, scope: 'Namespaced' }],
    admissionReviewVersions: ['v1'],
    matchPolicy: 'Equivalent',
    ...(webhook.label === undefined ? ofServices(webhook, options) : ofProbes(webhook.label, namespace)),
  }
}

function ofServices(webhook: WebhookFacts, { namespace, policy }: Decided): object {
  const isMutating = webhook.kind === 'mutating'
  const { excludedNamespaces, namespaceExpressions, namespaceLabels, objectSelector } = policy
  // Services in our own namespace must not depend on our webhooks.
  const notIn = { ...namespaceName, operator: 'NotIn', values: [namespace, ...excludedNamespaces] }
  return {
    // Announcing software writes the status and its annotations, and no tenant does: our outage must not stop it.
    failurePolicy: webhook.resource === 'services/status' ? 'Ignore' : policy.failurePolicy,
    sideEffects: isMutating ? 'NoneOnDryRun' : 'None',
    timeoutSeconds: isMutating ? 10 : 5,
    ...(isMutating ? { reinvocationPolicy: 'IfNeeded' } : {}),
    namespaceSelector: {
      matchExpressions: [notIn, ...namespaceExpressions],
      ...(namespaceLabels === undefined ? {} : { matchLabels: namespaceLabels }),
    },
    ...(objectSelector === undefined ? {} : { objectSelector }),
    matchConditions: conditions(webhook, { namespace, classes: policy.classes }),
  }
}

/** Only our probes match, so a failure blocks no one. With `Fail`, the API server tells why it cannot reach us. */
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
function conditions(
  { kind, operations, resource }: WebhookFacts,
  { namespace, classes }: { namespace: string; classes: string },
): object[] {
  const deletes = operations.includes('DELETE')
  const terminating = kind === 'mutating' ? notTerminating : notOnlyDeletion
  return [
    ...(deletes ? [isProtected] : [isOrWasLoadBalancer, noOtherClass(classes), terminating]),
    ...(resource === 'services/status' ? [annotationsChange] : []),
    { name: 'not-ourselves', expression: `request.userInfo.username != '${serviceAccountUser(namespace)}'` },
  ]
}

const isOrWasLoadBalancer = {
  name: 'is-or-was-load-balancer',
  expression: "object.spec.type == 'LoadBalancer' || (oldObject != null && oldObject.spec.type == 'LoadBalancer')",
}
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
// A Service in deletion can request an address. A client that only removes a finalizer does not depend on us.
const notOnlyDeletion = {
  name: 'not-only-deletion',
  expression: `${notTerminating.expression} || object.spec != oldObject.spec || ${annotationsChange.expression}`,
}
// The API server allows every other deletion without a call to us, because our process may be down.
const isProtected = {
  name: 'is-protected',
  expression:
    "has(oldObject.metadata.annotations) && 'eip-admission.dev/protect' in oldObject.metadata.annotations && " +
    "oldObject.metadata.annotations['eip-admission.dev/protect'] == 'true'",
}

/**
 * The condition by which a webhook sees only LoadBalancers of these classes, separated by commas. A Service loses its
 * class with its type, so its previous class counts, too. No class on a LoadBalancer differs from no class on another
 * type.
 */
export function noOtherClass(classes: string): { name: string; expression: string } {
  const served = (service: string) =>
    `${service}.spec.type == 'LoadBalancer' && ` +
    `(has(${service}.spec.loadBalancerClass) ? ${service}.spec.loadBalancerClass : '${withoutClass}') in ` +
    `'${classes}'.replace(' ', '').split(',')`
  const expression = `(${served('object')}) || (oldObject != null && ${served('oldObject')})`
  return { name: 'no-other-class', expression }
}
