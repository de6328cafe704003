import type { KubeObject } from '../kube/objects.ts'
import type { Decision } from './decision.ts'
import type { WebhookIdentity } from './identities.ts'
import type { AdmissionRequest } from './review.ts'

/** One admission webhook: where it listens and what it decides. What the API server sends there is in manifests/. */
export type Webhook<T extends KubeObject = KubeObject> = WebhookIdentity & {
  /** The signal aborts a little before the API server stops waiting. */
  decide(request: AdmissionRequest<T>, signal: AbortSignal): Promise<Decision> | Decision
}
