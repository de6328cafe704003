import type { Exchange } from '../../clouds/ports/cloud.ts'
import type { ObservedCall } from '../../kube/connect.ts'
import type { Metrics } from './metrics.ts'

export type ClientObservers = { cloud(exchange: Exchange): void; apiServer(call: ObservedCall): void }

/** Counts the calls to the cloud and to the API server. */
export function clientObservers(metrics: Metrics): ClientObservers {
  let succeededAtMs: number | undefined
  metrics.read('eip_admission_cloud_last_success_timestamp_seconds', () => succeededAtMs && succeededAtMs / 1000)
  return {
    cloud({ call, ms, status, fault }) {
      if (fault === undefined) succeededAtMs = Date.now()
      metrics.observe('eip_admission_cloud_call_duration_seconds', { call, result: fault ?? String(status) }, ms)
    },
    apiServer: ({ method, result, ms }) =>
      metrics.observe('eip_admission_api_server_call_duration_seconds', { method, result }, ms),
  }
}
