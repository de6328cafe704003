import { code, markdownTable } from '../markdown.ts'
import { type EventRow, catalogue } from '../../telemetry/events/catalogue.ts'

const opening = `# Events

Events say what the process did and what it could not do. \`kubectl describe\` shows those of one object, and this shows
all that somebody should read:

\`\`\`sh run
kubectl get events -A --field-selector type=Warning
\`\`\`

The API server keeps an Event for an hour. A problem that lasts is written once, and again each half hour: retries that
change nothing write no Event. Beyond 25 Events an object gets one each five minutes, as with client-go. Events about objects without a namespace, such as nodes, are in \`default\`.
The reasons of Services and nodes are those of the cloud controller manager of Kubernetes, so that dashboards continue.
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
