import type { Service } from '../kube/objects.ts'
import { splitKey } from '../kube/objects.ts'
import { services } from '../kube/resource.ts'
import { type AdoptionMark, adoptionMark } from '../ledger/adoption.ts'
import { asking } from '../ledger/asking.ts'
import { budget } from '../ledger/budget.ts'
import { type ClaimParts, type Claims, claims } from '../ledger/claim.ts'
import { type ElasticIP, claimKey } from '../ledger/elastic-ip.ts'
import { records } from '../ledger/records.ts'
import type { ReleaseParts } from '../ledger/release.ts'
import type { Want } from '../ledger/want.ts'
import { names } from '../manifests/names.ts'
import type { Ground } from './ground.ts'

export type LedgerOptions = Ground & { want: (service: Service) => Want }

export type Ledger = { parts: ClaimParts & ReleaseParts; claims: Claims; mark: AdoptionMark }

const now = () => new Date()

/** The ledger of this cluster and this cloud. */
export function makeLedger(options: LedgerOptions): Ledger {
  const { client, vendor, cluster, identity, settings, log } = options
  const { namespace } = settings.process
  const { cloudTimeoutMs } = settings.cloud.settings
  const name = names.ledgerConfigMap
  const mark = adoptionMark({ client, namespace, name, project: vendor.project })
  // A question lists, waits for its turn and reserves; others leave it that long, and half a call longer.
  const budgetMs = 1.5 * cloudTimeoutMs
  const timeoutMs = 2 * cloudTimeoutMs
  const parts = {
    records: records(client),
    cloud: vendor.cloud,
    scheme: { ...vendor.marks, cluster },
    identity,
    asking: asking({ timeoutMs, monotonicMs: () => performance.now() }),
    adopted: (signal: AbortSignal) => mark.isSet(signal),
    budget: () => budget(budgetMs),
    now,
    log,
    stillWanted: (record: ElasticIP, signal: AbortSignal) => stillWanted(options, record, signal),
  }
  return { parts, claims: claims(parts), mark }
}

/** Only a Service that is gone, is going, or plainly wants no address of ours, lets one go. */
async function stillWanted({ client, want }: LedgerOptions, record: ElasticIP, signal: AbortSignal): Promise<boolean> {
  const key = claimKey(record)
  const service = key === undefined ? undefined : await client.get(services, splitKey(key), { signal })
  if (!service || service.metadata.deletionTimestamp) return false
  const { kind } = want(service)
  return kind !== 'nothing' && kind !== 'own'
}
