import type { ReconcileTotal } from '../../telemetry/activity.ts'
import { type Section, clear, cut } from '../section.ts'
import type { RecentEvent } from '../../telemetry/event-recorders.ts'

export type ControllerFacts = {
  isLeader: boolean
  /** Keys that wait, by controller. */
  queues: readonly { name: string; length: number }[]
  totals: ReadonlyMap<string, ReconcileTotal>
}

/** A longer queue will not empty itself soon. */
const longQueue = 100

/** The controllers and their queues. */
export function controllersSection({ isLeader, queues, totals }: ControllerFacts): Section {
  return {
    id: 'controllers',
    title: 'Controllers',
    blocks: [
      ...(isLeader
        ? []
        : [
            {
              kind: 'notes' as const,
              notes: [{ tone: 'quiet' as const, text: 'They run in the replica that leads.' }],
            },
          ]),
      {
        kind: 'table',
        columns: ['controller', 'waiting', 'reconciles', 'failed', 'last failure'],
        rows: queues.map(({ name, length }) => {
          const { count = 0, failed = 0, failedAtMs } = totals.get(name) ?? {}
          return [
            { text: name },
            { text: String(length), ...(length > longQueue && { tone: 'warn' as const }) },
            { text: String(count) },
            { text: String(failed) },
            { text: '', atMs: failedAtMs },
          ]
        }),
        empty: 'This process runs no controllers.',
      },
    ],
  }
}

/** The latest Events of this replica, newest first. */
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
