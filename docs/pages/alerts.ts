import { oneOf } from '../../lib/text.ts'
import { type Alert, type AlertGroup, ruleExpression } from '../../telemetry/alerts/alert.ts'

const opening = `# Alerts

The chart installs these rules with \`prometheusRule.enabled\`; \`manifests/monitoring/eip-admission.rules.yaml\` has them
for a Prometheus without its operator ([guide](../guides/monitoring.md)). \`critical\` means that users are affected now, or
would be at the next failure. \`warning\` can wait for working hours. No alert fires during a rolling update.
`

/** The reference page of all alerts, in Markdown. Each heading is the target of the alert's `runbook_url`. */
export function alertsReference(groups: AlertGroup[]): string {
  return [opening, ...groups.map(section)].join('\n')
}

function section({ title, alerts }: AlertGroup): string {
  return [`## ${title}\n`, ...alerts.map(part)].join('\n')
}

function part(alert: Alert): string {
  const { name, severity, for: duration, summary, symptom, action, guide, quietWhile, followsQuota } = alert
  const time = duration === '0s' ? 'at once' : `after ${duration}`
  const causes = quietWhile?.map((cause) => `[${cause}](#${cause.toLowerCase()})`)
  const quiet = causes ? ` Not while ${oneOf(causes)} fires${followsQuota ? '' : ', except for a quota'}.` : ''
  return `### ${name}

**${severity}**, ${time}. ${summary}${quiet}

- What users notice: ${symptom}
- What to do: ${action} See [${guide.heading}](../${guide.file}#${headingAnchor(guide.heading)}).

\`\`\`promql
${ruleExpression(alert)}
\`\`\`
`
}

/** The anchor that GitHub and site generators give to a heading. */
export function headingAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}
