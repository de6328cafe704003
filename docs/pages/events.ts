import { code, markdownTable } from '../markdown.ts'
import { type EventRow, catalogue } from '../../telemetry/events/catalogue.ts'

const opening = `# Events

Events report the steps and the problems of eip-admission. \`kubectl describe\` shows the Events of one object. This command
shows all warnings:

\`\`\`sh run
kubectl get events -A --field-selector type=Warning
\`\`\`

The API server keeps an Event for an hour. A lasting problem is recorded once, and again every half hour. After 25 Events,
an object gets one every five minutes, as with client-go. Events about objects without a namespace, such as nodes, are in
\`default\`. Where Kubernetes' cloud controller manager has a reason for a step, the Event has that reason, so dashboards keep
working.
`

/** The reference page of all Events, in Markdown, from the catalogue that the recorders take their reasons from. */
export function eventsReference(): string {
  const rows = Object.entries(catalogue).map(([reason, row]: [string, EventRow]) => [
    code(reason),
    row.about,
    row.types.join(', '),
    row.meaning,
    row.todo ?? '',
  ])
  return `${opening}\n${markdownTable(['reason', 'about', 'type', 'meaning', 'what to do'], rows)}\n`
}
