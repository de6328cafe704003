/** The reasons of the upstream service controller, which dashboards know. */
export type ServiceReason =
  | 'EnsuringLoadBalancer'
  | 'EnsuredLoadBalancer'
  | 'SyncLoadBalancerFailed'
  | 'DeletingLoadBalancer'
  | 'DeletedLoadBalancer'

export type ServiceEvent = { type: 'Normal' | 'Warning'; reason: ServiceReason; message: string }
