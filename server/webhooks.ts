import { braked } from '../ledger/brake.ts'
import { heldAddress, isUnbound } from '../ledger/elastic-ip.ts'
import { newRecord } from '../ledger/records.ts'
import { serviceAccountUser } from '../manifests/names.ts'
import { serviceMutating } from '../webhooks/service-mutating.ts'
import { serviceProtect } from '../webhooks/service-protect.ts'
import { serviceStatusValidating, serviceValidating } from '../webhooks/service-validating.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import type { World } from './world.ts'

/** Every admission webhook of the process. */
export function makeWebhooks({ settings, vendor, ledger, views, ...world }: World): Webhook[] {
  const { policy } = vendor
  const { onCloudFailure, mostUnbound } = settings.cloud.settings
  const locations = () => world.locations.current()
  const unbound = () => views.records.list().filter(isUnbound).length
  const self = serviceAccountUser(settings.process.namespace)
  const isSelf = (user: string) => user === self
  const mutating = serviceMutating({
    policy,
    locations,
    isSelf,
    onCloudFailure,
    claim: braked({ claim: (claim, signal) => ledger.claims.claim(claim, signal), unbound, most: mostUnbound }),
    overLimit: ({ key, location, reclaim }, signal) =>
      ledger.parts.overLimit(newRecord(key, { location, reclaimPolicy: reclaim }, ''), signal),
    held: async (key, signal) => {
      const record = await ledger.parts.records.get(key, { signal })
      return record && heldAddress(record)
    },
  })
  const rules = { policy, locations, isSelf }
  return [mutating, serviceValidating(rules), serviceStatusValidating(rules), serviceProtect({ isSelf })]
}
