import { type MetricRow, catalogue } from '../../telemetry/metrics/catalogue.ts'
import { namedIn } from './expressions.ts'

/** The labels that Prometheus gives to each target, and those of buckets. */
const ofTargets = ['cluster', 'namespace', 'job', 'instance']

const rows: Record<string, MetricRow> = catalogue

/** Why an expression names what the process does not show; empty where all of it exists. */
export function unknownNames(expression: string): string[] {
  const { metrics, labels } = namedIn(expression)
  const found = metrics.map((name): [string, MetricRow | undefined] => [name, rowOf(name)])
  const known = new Set([
    ...ofTargets,
    ...found.flatMap(([, row]) => row?.labels ?? []),
    ...(found.some(([name]) => name.endsWith('_bucket')) ? ['le'] : []),
  ])
  return [
    ...found.filter(([, row]) => row === undefined).map(([name]) => `no metric ${name}`),
    ...labels.filter((label) => !known.has(label)).map((label) => `no label ${label}`),
    ...(metrics.length === 0 ? ['no metric at all'] : []),
  ]
}

function rowOf(name: string): MetricRow | undefined {
  const histogram = rows[name.replace(/_(bucket|sum|count)$/, '')]
  return rows[name]?.type === 'histogram'
    ? undefined
    : (rows[name] ?? (histogram?.type === 'histogram' ? histogram : undefined))
}
