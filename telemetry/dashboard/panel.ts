/** A Prometheus query and the legend of its series; `{{label}}` is the value of a label. */
export type Query = { expr: string; legend: string }

/** A panel. Its place follows from the order and the widths. */
export type Panel = {
  kind: 'stat' | 'timeseries'
  title: string
  /** A sentence that says what is normal. */
  description: string
  /** Grafana's name of the unit. */
  unit: 's' | 'short' | 'ops' | 'bytes' | 'percentunit' | 'bool_yes_no'
  queries: Query[]
  /** The bad values of a stat, which are red; none if absent. */
  bad?: { from: number } | { below: number }
  /** Columns out of 24. */
  width: 4 | 6 | 8 | 12
}

/** A collapsible row of panels under one title. */
export type Row = { title: string; panels: Panel[] }

const chosen = 'cluster=~"$cluster", namespace=~"$namespace", job=~"$job", instance=~"$instance"'

/** The series of a metric that the variables of the dashboard choose; `more` are further conditions. */
export function series(metric: string, more = ''): string {
  return `${metric}{${chosen}${more && `, ${more}`}}`
}

/** How fast a counter rises, by labels. */
export function rateBy(labels: string, metric: string, more = ''): string {
  return `sum by (${labels}) (rate(${series(metric, more)}[$__rate_interval]))`
}

/** A quantile of a histogram, by labels. */
export function quantile(q: number, labels: string, metric: string): string {
  return `histogram_quantile(${q}, sum by (${labels}, le) (rate(${series(`${metric}_bucket`)}[$__rate_interval])))`
}
