/** An alert: the source of its Prometheus rule and of its part of the reference page. */
export type Alert = {
  name: string
  /** `critical`: users are harmed now, so a person is paged. `warning`: they will be, or unused addresses cost money. */
  severity: 'critical' | 'warning'
  /** How long the expression must hold: longer than a rolling update takes. */
  for: string
  expr: string
  /**
   * The causes: while one of these alerts fires in the same installation, this one does not. So only the cause pages an
   * operator.
   */
  quietWhile?: readonly string[]
  /**
   * Whether it also follows from a used-up quota, which may last for weeks. `EIPAdmissionCloudRefuses` has the label
   * `result` for this.
   */
  followsQuota?: true
  /** A sentence without values, for a list of alerts. */
  summary: string
  /** The event, with the labels and the value in Prometheus' template syntax. */
  description: string
  /** The symptom that users of the cluster notice. */
  symptom: string
  /** The first action to take. */
  action: string
  /** The guide that continues from there: a file in docs, and a heading in it. */
  guide: { file: string; heading: string }
}

/** Alerts about one part of the product. */
export type AlertGroup = { title: string; alerts: Alert[] }

/** The alerts in their order, with their names. */
export function alertsOf(alerts: Record<string, Omit<Alert, 'name'>>): Alert[] {
  return Object.entries(alerts).map(([name, alert]) => ({ name, ...alert }))
}

/** The namespace of an installation, for descriptions. */
export const where = 'in namespace {{ $labels.namespace }}'

/** The labels that identify a process. */
const target = 'cluster, namespace, job, instance'

/** A result for each cluster and namespace in which we run; `cluster` exists only where one Prometheus has several. */
export const perInstall = 'by (cluster, namespace)'

/** The same, grouped by more labels. */
export function per(...labels: string[]): string {
  return `by (cluster, namespace, ${labels.join(', ')})`
}

/** Only the leader's series of a metric: a replica that led before still shows stale values. */
export function atLeader(metric: string): string {
  return `${metric} and on (${target}) eip_admission_leader == 1`
}

/** Only the series of processes with controllers or webhooks. A guardian talks only to the API server beside it. */
export function withoutGuardians(metric: string): string {
  return `${metric} and on (${target}) eip_admission_leader`
}

/** Only our own series of a metric that other programs have too. */
export function ofOurs(metric: string): string {
  return `${metric} and on (${target}) eip_admission_build_info`
}

/**
 * How often a counter with labels rose. Such a counter appears with its first value, which `increase` takes for the
 * start. So a new counter counts from 0, if Prometheus knew the process before or the process is young.
 */
export function rises(selector: string, { by, window }: { by: string; window: '15m' }): string {
  const isKnown = `eip_admission_build_info offset ${window}`
  const isYoung = 'time() - process_start_time_seconds < 15 * 60'
  return (
    `sum ${by} (increase(${selector}[${window}])) > 0\n` +
    `or sum ${by} (\n  (${selector} unless ${selector} offset ${window})\n` +
    `  and on (${target}) (${isKnown} or on (${target}) ${isYoung})\n) > 0`
  )
}

/** The expression of an alert, silent while it follows from another alert. */
export function ruleExpression({ expr, quietWhile, followsQuota }: Alert): string {
  if (quietWhile === undefined) return expr
  const result = followsQuota ? '' : ', result!="quota"'
  const causes = `ALERTS{alertname=~"${quietWhile.join('|')}", alertstate="firing"${result}}`
  return `(\n${expr.replaceAll(/^/gm, '  ')}\n)\nunless on (cluster, namespace) ${causes}`
}

/** The seconds since a timestamp of the leader. A leader without the timestamp counts from its own start. */
export function sinceLeader(timestamp: string): string {
  return (
    `time() - (\n  max ${perInstall} (${atLeader(timestamp)})\n` +
    `  or max ${perInstall} (${atLeader('process_start_time_seconds')})\n)`
  )
}
