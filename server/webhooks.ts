import { limitUnbound } from '../ledger/claim/limits.ts'
import { type ElasticIP, addressKeyOf, claimKey, heldAddress, isUnbound } from '../ledger/record/elastic-ip.ts'
import { probe } from '../webhooks/webhook-probe.ts'
import { serviceMutating } from '../webhooks/service-mutating.ts'
import { serviceProtect, serviceStatusValidating, serviceValidating } from '../webhooks/service-validating.ts'
import type { IsSelf } from '../webhooks/service-rules.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import type { Dependencies } from './dependencies.ts'
import { existingService, readQuotas } from '../webhooks/claim-addresses.ts'

/** Every admission webhook of the process. */
export function makeWebhooks(
  { settings, vendor, ledger, caches, want, ...deps }: Dependencies,
  { isSelf, otherLeader }: { isSelf: IsSelf; otherLeader: () => string | undefined },
): Webhook[] {
  const { policy } = vendor
  const { onCloudFailure, maxUnbound } = settings.cluster
  const locations = () => deps.locations.current()
  const mutating = serviceMutating({
    policy,
    locations,
    isSelf,
    otherLeader,
    onCloudFailure,
    families: () => deps.networks.families(),
    services: () => caches.services.list(),
    users: (address) => deps.ownAddresses.users(address),
    claim: limitUnbound({
      claim: (claim, signal) => ledger.claims.claim(claim, signal),
      unbound: () => unboundKeys({ caches, want }),
      max: maxUnbound,
      quotas: readQuotas(deps.client, deps.log),
      readAhead: (signal) => ledger.claims.readAhead(signal),
    }),
    previewClaim: (claim, signal) => ledger.claims.preview(claim, signal),
    exists: existingService({ client: deps.client, cached: (key) => caches.services.get(key), log: deps.log }),
    held: async (key, signal) => {
      const record = await ledger.getRecord(key, signal)
      return record && heldAddress(record)
    },
  })
  const rules = { policy, locations, isSelf, ownAddresses: deps.ownAddresses }
  return [mutating, serviceValidating(rules), serviceStatusValidating(rules), serviceProtect({ isSelf }), probe(deps)]
}

/**
 * The addresses that no Service holds. An address whose stored Service waits for it does not count: the controller may
 * be slow.
 */
function unboundKeys({ caches, want }: Pick<Dependencies, 'caches' | 'want'>): string[] {
  const isAwaited = (record: ElasticIP) => {
    const service = caches.services.get(claimKey(record) ?? '')
    return service !== undefined && want(service).kind === 'reserve'
  }
  const records = caches.records.list().filter((record) => isUnbound(record) && !isAwaited(record))
  return records.flatMap((record) => addressKeyOf(record) ?? claimKey(record) ?? [])
}
