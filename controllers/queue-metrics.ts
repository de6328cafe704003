import type { ControllerObserver } from './loop/controller.ts'
import type { Activity } from '../telemetry/activity.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'

/** Counts what the controllers do, as client-go counts its work queues. */
export function controllerObserver(metrics: Metrics, activity: Activity): ControllerObserver {
  return {
    reconciled(controller, result, ms) {
      metrics.observe('eip_admission_reconcile_duration_seconds', { controller, result }, ms)
      activity.reconciled(controller, result)
    },
    added: (name) => metrics.add('workqueue_adds_total', { name }),
    retried: (name) => metrics.add('workqueue_retries_total', { name }),
    waited: (name, ms) => metrics.observe('workqueue_queue_duration_seconds', { name }, ms),
  }
}
