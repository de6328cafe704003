import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'

export type Metrics = {
  admission(webhook: string, verdict: string, ms: number): void
  cloudCall(call: string, result: string, ms: number): void
  reconcile(controller: string, result: string, ms: number): void
  /** A Service that the controllers completed, because admission had not reviewed it. */
  missedByAdmission(): void
  /** A value that is read whenever the metrics are; undefined leaves it out. */
  gauge(name: string, help: string, read: () => number | undefined): void
  /** What Prometheus reads. */
  text(): Promise<string>
}

const bucketsS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The metrics of the process. */
export function makeMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const durations = (subject: string, help: string, labels: [string, string]) => {
    const name = `eip_admission_${subject}_duration_seconds`
    const histogram = new Histogram({ name, help, labelNames: labels, buckets: bucketsS, registers })
    return (one: string, other: string, ms: number) =>
      histogram.observe({ [labels[0]]: one, [labels[1]]: other }, ms / 1000)
  }
  const missed = new Counter({
    name: 'eip_admission_services_without_admission_total',
    help: 'Services that the controllers completed because admission had not reviewed them.',
    registers,
  })
  return {
    missedByAdmission: () => missed.inc(),
    admission: durations('review', 'Admission reviews, by webhook and verdict.', ['webhook', 'verdict']),
    cloudCall: durations('cloud_call', 'Calls to the cloud, by name and status or fault.', ['call', 'result']),
    reconcile: durations(
      'reconcile',
      'Reconciles of one object, by controller and result: ok, conflict, terminal, unsettled, error or aborted.',
      ['controller', 'result'],
    ),
    gauge(name, help, read) {
      const gauge = new Gauge({
        name: `eip_admission_${name}`,
        help,
        registers,
        collect() {
          const value = read()
          if (value !== undefined) gauge.set(value)
        },
      })
    },
    text: () => registry.metrics(),
  }
}
