import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import type { Service } from '../kube/objects.ts'
import { splitKey } from '../kube/objects.ts'
import { services } from '../kube/resource.ts'
import { type AdoptionMark, adoptionMark } from '../ledger/adoption.ts'
import { asking } from '../ledger/asking.ts'
import { type ClaimParts, type Claims, claims } from '../ledger/claim.ts'
import { type ElasticIP, claimKey } from '../ledger/elastic-ip.ts'
import { records } from '../ledger/records.ts'
import type { ReleaseParts } from '../ledger/release.ts'
import type { Want } from '../ledger/want.ts'
import { names } from '../manifests/names.ts'
import type { CloudParts } from './clouds.ts'

export type LedgerOptions = {
  client: KubeClient
  vendor: CloudParts
  /** UID of kube-system. */
  cluster: string
  identity: string
  namespace: string
  cloudTimeoutMs: number
  want: (service: Service) => Want
  log: Log
}

export type Ledger = { parts: ClaimParts & ReleaseParts; claims: Claims; mark: AdoptionMark }

const now = () => new Date()

/** The ledger of this cluster and this cloud. */
export function makeLedger(options: LedgerOptions): Ledger {
  const { client, vendor, cluster, identity, namespace, cloudTimeoutMs, log } = options
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
    asking: asking({ identity, timeoutMs, now, monotonicMs: () => performance.now() }),
    adopted: (signal: AbortSignal) => mark.isSet(signal),
    budgetMs,
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
