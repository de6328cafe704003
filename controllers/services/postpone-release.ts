import type { Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import type { WithdrawalDeps } from './withdrawal.ts'

export type PostponeDeps = Pick<WithdrawalDeps, 'announcer' | 'event'> & {
  postponeRelease: (of: { record: ElasticIP; reason: string }, signal: AbortSignal) => Promise<void>
}

/** Keeps the reservation of an address that is announced until its Service is gone, and says how to end that. */
export async function postponeRelease(
  { announcer, event, postponeRelease: write }: PostponeDeps,
  { record, service }: { record: ElasticIP; service: Service | undefined },
  signal: AbortSignal,
): Promise<undefined> {
  if (!service) return
  const until = `until Service ${keyOf(service)} is deleted`
  await write({ record, reason: `${announcer.name} announces it ${until}` }, signal)
  const message =
    `${announcer.name} announces ${record.status?.address} ${until}, so its reservation stays. ` +
    'To release the address, delete the Service; to use it again, make the Service a LoadBalancer again'
  event(service, { type: 'Warning', reason: 'DeletingLoadBalancer', message })
}

/** Warns where a Service has the address again that the software did not withdraw in between. */
export function warnOfReturn(
  { announcer, event }: Pick<PostponeDeps, 'announcer' | 'event'>,
  service: Service | undefined,
): void {
  if (!service || !announcer.withdrawsOnlyOnDeletion) return
  const message =
    `The Service has its address again, but ${announcer.name} may announce nothing for it: kube-vip 1.2 does so until it ` +
    'is restarted. Restart it (kubectl rollout restart its DaemonSet), or delete the Service and create it again'
  event(service, { type: 'Warning', reason: 'SyncLoadBalancerFailed', message })
}
