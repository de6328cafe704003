import { braked } from '../ledger/brake.ts'
import { type ElasticIP, claimKey, heldAddress, isUnbound } from '../ledger/elastic-ip.ts'
import { foresee } from '../ledger/foresee.ts'
import { serviceAccountUser } from '../manifests/names.ts'
import { serviceMutating } from '../webhooks/service-mutating.ts'
import { serviceProtect } from '../webhooks/service-protect.ts'
import { serviceStatusValidating, serviceValidating } from '../webhooks/service-validating.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import type { World } from './world.ts'

/** Every admission webhook of the process. */
export function makeWebhooks({ settings, vendor, ledger, views, want, ...world }: World): Webhook[] {
  const { policy } = vendor
  const { onCloudFailure, mostUnbound } = settings.cloud.settings
  const locations = () => world.locations.current()
  // A Service that is stored and waits for its address is no stranger, however long the controller takes to bind it.
  const isAwaited = (record: ElasticIP) => {
    const service = views.services.get(claimKey(record) ?? '')
    return service !== undefined && want(service).kind === 'reserve'
  }
  const unbound = () => views.records.list().filter((record) => isUnbound(record) && !isAwaited(record)).length
  const self = serviceAccountUser(settings.process.namespace)
  const isSelf = (user: string) => user === self
  const mutating = serviceMutating({
    policy,
    locations,
    isSelf,
    onCloudFailure,
    claim: braked({ claim: (claim, signal) => ledger.claims.claim(claim, signal), unbound, most: mostUnbound }),
    foresee: (claim, signal) => foresee(ledger.parts, claim, signal),
    held: async (key, signal) => {
      const record = await ledger.parts.records.get(key, { signal })
      return record && heldAddress(record)
    },
  })
  const rules = { policy, locations, isSelf }
  return [mutating, serviceValidating(rules), serviceStatusValidating(rules), serviceProtect({ isSelf })]
}
