/** An alert: the rules that Prometheus reads and the reference page are made of it. */
export type Alert = {
  name: string
  /** `critical`: users are harmed now, so a person is paged. `warning`: they will be, or unused addresses cost money. */
  severity: 'critical' | 'warning'
  /** How long the expression has to hold. It is longer than what a rolling update takes. */
  for: string
  expr: string
  /**
   * Alerts of which this one is a consequence: while one of them fires in the same installation, this one does not. An
   * operator is called once, by the cause.
   */
  quietWhile?: readonly string[]
  /** Whether it follows from a used-up quota too, which may last for weeks. `EIPAdmissionCloudRefuses` has the label. */
  followsQuota?: true
  /** A sentence without values, for a list of alerts. */
  summary: string
  /** The event, with the labels and the value in Prometheus' template words. */
  description: string
  /** The symptom that users of the cluster notice. */
  symptom: string
  /** The first action to take. */
  action: string
  /** The part of the guides that goes on from there: a file in docs, and a heading in it. */
  guide: { file: string; heading: string }
}

/** Alerts about one part of the product. */
export type AlertGroup = { title: string; alerts: Alert[] }

/** Alerts in their order, each by its name. */
export function alertsOf(alerts: Record<string, Omit<Alert, 'name'>>): Alert[] {
  return Object.entries(alerts).map(([name, alert]) => ({ name, ...alert }))
}

/** The namespace of an installation, for descriptions. */
export const where = 'in namespace {{ $labels.namespace }}'

/** The labels that tell one process from another. */
const target = 'cluster, namespace, job, instance'

/** A result for each cluster and namespace in which we run; `cluster` exists only where one Prometheus has several. */
export const perInstall = 'by (cluster, namespace)'

/** The same, kept apart by more labels. */
export function per(...labels: string[]): string {
  return `by (cluster, namespace, ${labels.join(', ')})`
}

/** Only what the leader says of this metric: a replica that led before still shows what it knew then. */
export function atLeader(metric: string): string {
  return `${metric} and on (${target}) eip_admission_leader == 1`
}

/** Only what processes with controllers or webhooks say. A guardian asks only the API server beside it. */
export function withoutGuardians(metric: string): string {
  return `${metric} and on (${target}) eip_admission_leader`
}

/** Only our own processes, of a metric that other programs have too. */
export function ofOurs(metric: string): string {
  return `${metric} and on (${target}) eip_admission_build_info`
}

/**
 * How often a counter with labels rose. Such a counter appears with its first value, which `increase` takes for the
 * beginning. So one that was not there before counts from 0, if Prometheus knew the process then or the process is
 * young.
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

/** The expression of an alert, without what follows from another alert. */
export function ruleExpression({ expr, quietWhile, followsQuota }: Alert): string {
  if (quietWhile === undefined) return expr
  const result = followsQuota ? '' : ', result!="quota"'
  const causes = `ALERTS{alertname=~"${quietWhile.join('|')}", alertstate="firing"${result}}`
  return `(\n${expr.replaceAll(/^/gm, '  ')}\n)\nunless on (cluster, namespace) ${causes}`
}

/** How many seconds ago the leader last did what a time shows. A leader that never did it counts from its own start. */
export function sinceLeader(timestamp: string): string {
  return (
    `time() - (\n  max ${perInstall} (${atLeader(timestamp)})\n` +
    `  or max ${perInstall} (${atLeader('process_start_time_seconds')})\n)`
  )
}
