import type { ControllerObserver } from './loop/controller.ts'
import type { Activity } from '../telemetry/activity.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'

/** Counts what the controllers do, as client-go counts its work queues. */
export function controllerObserver(metrics: Metrics, activity: Activity): ControllerObserver {
  const running = new Map<string, Set<{ sinceMs: number }>>()
  const nowMs = () => performance.now()
  metrics.readEach('workqueue_unfinished_work_seconds', () =>
    [...running].map(([name, works]) => {
      const ms = [...works].reduce((sum, { sinceMs }) => sum + nowMs() - sinceMs, 0)
      return { labels: { name }, value: ms / 1000 }
    }),
  )
  return {
    begun(controller) {
      const work = { sinceMs: nowMs() }
      const works = running.get(controller) ?? new Set()
      running.set(controller, works.add(work))
      return (result) => {
        works.delete(work)
        const ms = nowMs() - work.sinceMs
        metrics.observe('eip_admission_reconcile_duration_seconds', { controller, result }, ms)
        metrics.observe('workqueue_work_duration_seconds', { name: controller }, ms)
        activity.reconciled(controller, result)
      }
    },
    added: (name) => metrics.add('workqueue_adds_total', { name }),
    retried: (name) => metrics.add('workqueue_retries_total', { name }),
    waited: (name, ms) => metrics.observe('workqueue_queue_duration_seconds', { name }, ms),
  }
}
