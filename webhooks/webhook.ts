import type { KubeObject } from '../kube/objects.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The fields that we read of an AdmissionReview's request (admission.k8s.io/v1). */
export type AdmissionRequest<T extends KubeObject = KubeObject> = {
  uid: string
  operation: AdmissionOperation
  namespace?: string
  name?: string
  subResource?: string
  dryRun?: boolean
  userInfo?: { username?: string }
  options?: { fieldManager?: string } | null
  object: T | null
  oldObject: T | null
}

export type AdmissionReview = {
  apiVersion: 'admission.k8s.io/v1'
  kind: 'AdmissionReview'
  request: AdmissionRequest
}

/** An admission webhook: its identity and its decision. */
export type Webhook<T extends KubeObject = KubeObject> = WebhookIdentity & {
  /** Decides on one request. The signal aborts shortly before the API server stops waiting. */
  decide(request: AdmissionRequest<T>, signal: AbortSignal): Promise<Decision> | Decision
}

/** An RFC 6902 operation. */
export type Operation = { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string }

/**
 * The answer of a webhook. A denial has a reason for the person who sent the request. It is `invalid` if the object is
 * wrong, and `forbidden` if a valid object must not be stored or deleted. A broken dependency is not a decision; it throws.
 */
export type Decision =
  | { verdict: 'allow'; warnings?: string[] }
  | { verdict: 'deny'; because: 'invalid' | 'forbidden'; reason: string }
  | { verdict: 'patch'; patch: Operation[]; warnings?: string[] }

/** Allows the object as it is. */
export function allow(warnings: string[] = []): Decision {
  return { verdict: 'allow', warnings }
}

/** Denies the request. */
export function deny(because: 'invalid' | 'forbidden', reason: string): Decision {
  return { verdict: 'deny', because, reason }
}

/** Allows the object with changes, or as it is if there are none. */
export function patch(operations: Operation[], warnings: string[] = []): Decision {
  return operations.length > 0 ? { verdict: 'patch', patch: operations, warnings } : allow(warnings)
}

/** The name, the path and the rules of a webhook. The manifests are generated from it. */
export type WebhookIdentity = {
  name: string
  path: string
  kind: 'mutating' | 'validating'
  operations: ('CREATE' | 'UPDATE' | 'DELETE')[]
  resource: 'services' | 'services/status' | 'configmaps'
  /** Limits the webhook to objects with this label in our own namespace. Without it: Services in every other namespace. */
  label?: string
}

export const reserveAddress = {
  name: 'reserve.eip-admission.dev',
  path: '/mutate-services',
  kind: 'mutating',
  operations: ['CREATE', 'UPDATE'],
  resource: 'services',
} satisfies WebhookIdentity

export const validateService = {
  name: 'validate.eip-admission.dev',
  path: '/validate-services',
  kind: 'validating',
  operations: ['CREATE', 'UPDATE'],
  resource: 'services',
} satisfies WebhookIdentity

/** A write of the status can also change annotations, but the rules for `services` do not match it. */
export const validateServiceStatus = {
  name: 'validate-status.eip-admission.dev',
  path: '/validate-services-status',
  kind: 'validating',
  operations: ['UPDATE'],
  resource: 'services/status',
} satisfies WebhookIdentity

export const protectService = {
  name: 'protect.eip-admission.dev',
  path: '/protect-services',
  kind: 'validating',
  operations: ['DELETE'],
  resource: 'services',
} satisfies WebhookIdentity

/** Only our own probes call it. It shares a configuration with the others, so the API server treats it alike. */
export const answerProbe = {
  name: 'probe.eip-admission.dev',
  path: '/probe',
  kind: 'mutating',
  operations: ['CREATE'],
  resource: 'configmaps',
  label: 'eip-admission.dev/probe',
} satisfies WebhookIdentity

export const webhookIdentities: WebhookIdentity[] = [
  reserveAddress,
  validateService,
  validateServiceStatus,
  protectService,
  answerProbe,
]
