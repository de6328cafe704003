import { allRequestAnnotations as ofAllSoftware } from '../../announcers/announcers.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import type { Reflector } from '../../kube/reflector.ts'
import { services } from '../../kube/resource.ts'
import type { Policy } from '../../settings/service-policy.ts'
import { sharedRead } from '../../lib/shared-read.ts'
import type { ReadPossibleUsers } from '../record/address-use.ts'
import { type ElasticIP, elasticIPs } from '../record/elastic-ip.ts'

/** The annotations by which a Service can request an address, including those of software that we do not configure. */
export function allRequestAnnotations({ annotations }: { annotations: readonly string[] }): readonly string[] {
  return [...new Set([...ofAllSoftware, ...annotations])]
}

/**
 * Reads every Service and every record from the API server. It reads Services of all types: any may still show an
 * address in its status. Simultaneous claims and releases share one read. With 500 Services the read takes 50 ms on a
 * machine with two cores, and a claim of a warm address waits for it.
 */
export function readPossibleUsers(
  client: KubeClient,
  {
    policy: { requestAnnotations: own },
    recordsSince,
  }: { policy: Pick<Policy, 'requestAnnotations'>; recordsSince: RecordsSince },
): ReadPossibleUsers {
  const requestAnnotations = allRequestAnnotations(own)
  const listed = sharedRead({
    read: (signal) => listAll(client, services, { signal }),
    recentMs: 0,
    // If many Services are deleted at once, their releases share few lists: that saves a quarter of the CPU.
    pauseFactor: 2,
    abandonedError: abandoned('Services'),
  })
  return async (signal, written) => {
    const all = await Promise.all([listed.fresh(signal), recordsSince(written, signal)])
    return { services: all[0], records: all[1], requestAnnotations }
  }
}

/** Every current record; or every record as of the write of `written`, or later. */
export type RecordsSince = (written: ElasticIP | undefined, signal: AbortSignal) => Promise<readonly ElasticIP[]>

/** The cache of a healthy process shows a write within milliseconds. */
const seenWithinMs = 1_000

/**
 * Reads every record. Once the cache shows a record that was just written, it has all earlier ones too. Otherwise
 * simultaneous callers share a list.
 */
export function readRecordsSince(
  client: KubeClient,
  cached: Pick<Reflector<ElasticIP>, 'list' | 'hasReached'>,
): RecordsSince {
  const listed = sharedRead({
    read: (signal) => listAll(client, elasticIPs, { signal }),
    recentMs: 0,
    abandonedError: abandoned('ElasticIPs'),
  })
  return async (written, signal) =>
    written && (await cached.hasReached(written, seenWithinMs)) ? cached.list() : listed.fresh(signal)
}

function abandoned(what: string): (cause: unknown) => KubeError {
  return (cause) => new KubeError(`the read of all ${what} ended early`, { status: 0, reason: 'Timeout', cause })
}
