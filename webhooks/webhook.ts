import type { KubeObject } from '../kube/objects.ts'
import type { Decision } from './decision.ts'
import type { WebhookIdentity } from './identities.ts'
import type { AdmissionRequest } from './review.ts'

/** One admission webhook: its identity and its decision. */
export type Webhook<T extends KubeObject = KubeObject> = WebhookIdentity & {
  /** Decides on one request. The signal aborts shortly before the API server stops waiting. */
  decide(request: AdmissionRequest<T>, signal: AbortSignal): Promise<Decision> | Decision
}
