import type { RecentEvent } from '../../telemetry/recent-events.ts'
import { type Section, clear, cut } from '../section.ts'

/** What this replica reported lately, the newest first. */
export function eventsSection(events: readonly RecentEvent[]): Section {
  return {
    id: 'events',
    title: 'Recent Events',
    blocks: [
      {
        kind: 'table',
        columns: clear('reason', 'about', 'message', 'time'),
        rows: events.map(({ atMs, type, reason, about, message, count }) => [
          {
            text: reason,
            tone: type === 'Warning' ? 'warn' : 'quiet',
            detail: count > 1 ? `${count} times` : undefined,
          },
          { text: about },
          { text: cut(message, 400) },
          { atMs },
        ]),
        empty: 'This replica has recorded none since its start. All of the last hour: kubectl get events -A',
      },
    ],
  }
}
