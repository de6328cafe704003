import type { Routes } from '../routes.ts'

/** What of the routes was verified, and what a person has to look at. */
export function routesText({ announcingNodes, sessions }: Routes): string[] {
  const announced = Object.values(announcingNodes ?? {}).length
  return [
    announcingNodes
      ? `MetalLB announces ${announced} ${announced === 1 ? 'Service' : 'Services'}, by its ServiceBGPStatus objects; none that was announced before is missing.`
      : 'Routes were not verified: this cluster has no ServiceBGPStatus, which MetalLB has from 0.15 on.',
    sessions
      ? `FRR-K8s has ${sessions.up} of ${sessions.all} BGP sessions up.`
      : 'Whether sessions are up was not asked: only FRR-K8s shows it in the cluster. Reach an address from outside, or read the metric metallb_bgp_session_up.',
  ]
}
