/** The reasons of the upstream service controller, which dashboards know, and our own one. */
export type ServiceReason =
  | 'EnsuringLoadBalancer'
  | 'EnsuredLoadBalancer'
  | 'SyncLoadBalancerFailed'
  | 'DeletingLoadBalancer'
  | 'DeletedLoadBalancer'
  | 'ContradictoryAddress'

export type ServiceEvent = { type: 'Normal' | 'Warning'; reason: ServiceReason; message: string }
