import type { Announcer } from '../announcers/announcer.ts'
import { elsewhere } from '../announcers/elsewhere.ts'
import { empty } from '../announcers/empty.ts'
import type { Log } from '../kube/log.ts'
import type { LoadBalancer } from './settings/load-balancer.ts'
import { SettingsError } from './settings/problems.ts'

/** The announcer of the load balancer setting. What this version cannot do yet is said, or refused where it would cost. */
export function announcerOf(loadBalancer: LoadBalancer, log: Log): Announcer {
  const { kind } = loadBalancer
  if (kind === 'emlb') {
    const wrong = 'managed load balancers are not in this version, and Elastic IPs would be bought instead'
    throw new SettingsError([{ setting: 'load balancer', wrong, right: 'leave it unset, or choose another one' }])
  }
  if (kind === 'empty') return empty({ ipAnnotation: loadBalancer.ipAnnotation })
  if (kind !== 'none') {
    log.warn(
      { loadBalancer: kind },
      'addresses are reserved and written to spec.loadBalancerIP; this version does not configure who announces them',
    )
  }
  return elsewhere(kind)
}
