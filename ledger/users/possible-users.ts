import { allRequestAnnotations as ofAllSoftware } from '../../announcers/announcers.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { listAll } from '../../kube/list-all.ts'
import { services } from '../../kube/resource.ts'
import type { Policy } from '../../settings/service-policy.ts'
import { sharedRead } from '../../lib/shared-read.ts'
import type { ReadPossibleUsers } from '../record/address-use.ts'
import { elasticIPs } from '../record/elastic-ip.ts'

/**
 * The annotations by which a Service can request an address: ours and the annotations of software that we do not
 * configure.
 */
export function allRequestAnnotations({ annotations }: { annotations: readonly string[] }): readonly string[] {
  return [...new Set([...ofAllSoftware, ...annotations])]
}

/**
 * Reads every Service and every record from the API server. All Services, not only those of type LoadBalancer: another
 * one may still show an address in its status. Claims and releases at the same time share one read. With 500 Services
 * the read takes 50 ms on a machine of two cores, and a claim of a warm address waits for it.
 */
export function readPossibleUsers(
  client: KubeClient,
  { requestAnnotations: own }: Pick<Policy, 'requestAnnotations'>,
): ReadPossibleUsers {
  const requestAnnotations = allRequestAnnotations(own)
  const shared = sharedRead({
    read: async (signal) => {
      const all = await Promise.all([listAll(client, services, { signal }), listAll(client, elasticIPs, { signal })])
      return { services: all[0], records: all[1], requestAnnotations }
    },
    recentMs: 0,
    abandonedError: (cause) =>
      new KubeError('the read of all Services and ElasticIPs ended early', { status: 0, reason: 'Timeout', cause }),
  })
  return (signal) => shared.fresh(signal)
}
