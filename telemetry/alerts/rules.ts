import { repository } from '../../settings/installed-names.ts'
import { type Alert, type AlertGroup, ruleExpression } from './alert.ts'
import { addressAlerts } from './addresses.ts'
import { admissionAlerts } from './admission.ts'
import { certificateAlerts } from './certificates.ts'
import { cloudAlerts } from './cloud.ts'
import { controlPlaneAlerts } from './control-plane.ts'
import { processAlerts } from './process.ts'

/** Where the reference of the alerts is published. */
export const runbooks = `${repository}/blob/main/docs/reference/alerts.md`

export type RuleOptions = {
  /** The URL of the reference page, on which each alert is a heading. */
  runbooks: string
  /** Escapes a text so that no program but Prometheus reads it as a template. */
  literal: (text: string) => string
  /** The rule of an alert, or its replacement if an operator can turn the alert off. */
  wanted?: (alert: string, rule: object) => unknown
}

/** The rules of these alerts as one group: a group for each part could be empty. */
export function ruleGroup(groups: AlertGroup[], options: RuleOptions): object {
  const { wanted = (_, rule) => rule } = options
  const alerts = groups.flatMap((group) => group.alerts)
  return { name: 'eip-admission', rules: alerts.map((alert) => wanted(alert.name, rule(alert, options))) }
}

function rule(alert: Alert, { runbooks: page, literal }: RuleOptions): object {
  const { name, severity, for: duration, summary, description } = alert
  return {
    alert: name,
    // A Helm template has one line for each text.
    expr: ruleExpression(alert).replaceAll(/\n\s*/g, ' '),
    for: duration,
    labels: { severity },
    annotations: {
      summary,
      description: literal(description),
      runbook_url: `${page}#${name.toLowerCase()}`,
    },
  }
}

/** Every alert, in the order in which the reference lists them. */
export const alertGroups: AlertGroup[] = [
  addressAlerts,
  admissionAlerts,
  cloudAlerts,
  processAlerts,
  certificateAlerts,
  controlPlaneAlerts,
]
