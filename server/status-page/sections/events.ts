import type { RecentEvent } from '../../recent-events.ts'
import { type Section, cut } from '../section.ts'

/** What this replica reported lately, the newest first. */
export function eventsSection(events: readonly RecentEvent[]): Section {
  return {
    id: 'events',
    title: 'Recent Events',
    blocks: [
      {
        kind: 'table',
        columns: ['time', 'reason', 'about', 'message'],
        rows: events.map(({ atMs, type, reason, about, message, count }) => [
          { atMs },
          {
            text: reason,
            tone: type === 'Warning' ? 'warn' : 'quiet',
            detail: count > 1 ? `${count} times` : undefined,
          },
          { text: about },
          { text: cut(message, 400) },
        ]),
        empty: 'This replica has recorded none since its start. All of the last hour: kubectl get events -A',
      },
    ],
  }
}
