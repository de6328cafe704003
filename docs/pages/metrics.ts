import { code, markdownTable } from '../markdown.ts'
import { type MetricRow, catalogue } from '../../telemetry/metrics/catalogue.ts'

const opening = `# Metrics

Every replica serves these metrics at \`/metrics\` on the health port (\`--secure-port\`, 10258). For some metrics, only the
leader has values. Times and ages are in seconds. Histograms also have \`_bucket\`, \`_sum\` and \`_count\`.
`

/** The reference page of all metrics, in Markdown, from the catalogue that the process registers. */
export function metricsReference(): string {
  const rows = Object.entries(catalogue).map(([name, row]: [string, MetricRow]) => [
    code(name),
    row.type,
    row.labels.map(code).join(', '),
    row.help,
  ])
  return `${opening}\n${markdownTable(['metric', 'type', 'labels', 'meaning'], rows)}\n`
}
