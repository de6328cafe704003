import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { type LabelsOf, type MetricName, type MetricRow, catalogue } from './catalogue.ts'

export type Sample<N extends MetricName<'gauge'>> = { labels: LabelsOf<N>; value: number }

type Readable = number | undefined

export type Metrics = {
  /** Adds `by` to a counter, 1 by default. */
  add<N extends MetricName<'counter'>>(name: N, labels: LabelsOf<N>, by?: number): void
  /** Counts a duration in its histogram. */
  observe<N extends MetricName<'histogram'>>(name: N, labels: LabelsOf<N>, ms: number): void
  /** Reads a gauge whenever the metrics are read; undefined leaves it out. */
  read(name: MetricName<'gauge'>, value: () => Readable | Promise<Readable>): void
  /** Reads a counter that another part of the process keeps. */
  readTotal(name: MetricName<'counter'>, value: () => number): void
  /** Reads samples with labels. Several places may add samples to one metric. */
  readEach<N extends MetricName<'gauge'>>(name: N, samples: () => Sample<N>[]): void
  /** The text that Prometheus reads. */
  text(): Promise<string>
}

/** The metrics of the process. Counters without labels start at 0; all others appear with their first value. */
export function makeMetrics(): Metrics {
  const registry = new Registry()
  const { counters, gauges, histograms } = metricsIn(registry)
  const collectors: (() => Promise<void>)[] = []
  return {
    add: (name, labels, by = 1) => counters.get(name)?.inc(labels, by),
    observe: (name, labels, ms) => histograms.get(name)?.observe(labels, ms / 1000),
    read(name, value) {
      collectors.push(async () => {
        const current = await value()
        if (current !== undefined) gauges.get(name)?.set(current)
      })
    },
    readTotal(name, value) {
      collectors.push(async () => {
        counters.get(name)?.reset()
        counters.get(name)?.inc(value())
      })
    },
    readEach(name, samples) {
      collectors.push(async () => {
        for (const { labels, value } of samples()) gauges.get(name)?.set(labels, value)
      })
    },
    async text() {
      // Each starts without values, so that stale series disappear.
      for (const gauge of gauges.values()) gauge.reset()
      // A reset gauge without labels has the value 0.
      for (const name of unlabeledGauges) gauges.get(name)?.remove()
      await Promise.all(collectors.map((collect) => collect()))
      return registry.metrics()
    },
  }
}

/** Bounds in seconds. The largest exceeds all our time-outs, so that a slow call differs from one that never ended. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

const rows: [string, MetricRow][] = Object.entries(catalogue)
const unlabeledGauges = rows
  .filter(([, { type, labels }]) => type === 'gauge' && labels.length === 0)
  .map(([name]) => name)

function metricsIn(registry: Registry) {
  const of = (type: MetricRow['type']) => rows.filter(([, row]) => row.type === type)
  const make = (name: string, { help, labels }: MetricRow) => {
    return { name, help, labelNames: [...labels], registers: [registry] }
  }
  return {
    counters: new Map(of('counter').map(([name, row]) => [name, new Counter(make(name, row))])),
    gauges: new Map(of('gauge').map(([name, row]) => [name, new Gauge(make(name, row))])),
    histograms: new Map(of('histogram').map(([name, row]) => [name, new Histogram({ ...make(name, row), buckets })])),
  }
}
