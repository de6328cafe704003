import type { Location } from '../clouds/cloud.ts'
import { heldAddress } from '../ledger/elastic-ip.ts'
import type { Policy } from '../ledger/want.ts'
import { serviceAccountUser } from '../manifests/names.ts'
import { serviceMutating } from '../webhooks/service-mutating.ts'
import { serviceProtect } from '../webhooks/service-protect.ts'
import { serviceStatusValidating, serviceValidating } from '../webhooks/service-validating.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import type { Ledger } from './ledger.ts'

export type WebhookParts = {
  ledger: Ledger
  policy: Policy
  locations: () => Location[] | undefined
  onCloudFailure: 'defer' | 'deny'
  namespace: string
}

/** Every admission webhook of the process. */
export function makeWebhooks({ ledger, policy, locations, onCloudFailure, namespace }: WebhookParts): Webhook[] {
  const self = serviceAccountUser(namespace)
  const isSelf = (user: string) => user === self
  const mutating = serviceMutating({
    policy,
    locations,
    isSelf,
    onCloudFailure,
    claim: (claim, signal) => ledger.claims.claim(claim, signal),
    held: async (key, signal) => {
      const record = await ledger.parts.records.get(key, { signal })
      return record && heldAddress(record)
    },
  })
  const rules = { policy, locations, isSelf }
  return [mutating, serviceValidating(rules), serviceStatusValidating(rules), serviceProtect({ isSelf })]
}
