import type { KubeObject } from '../kube/objects.ts'
import type { WebhookIdentity } from './identities.ts'
import type { AdmissionRequest } from './review.ts'

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
