import type { EventRecorder, Occurrence } from '../kube/events.ts'
import { keyOf } from '../kube/objects.ts'

/** An Event as the status page shows it. */
export type RecentEvent = Occurrence & { atMs: number; count: number; about: string }

export type RecentEvents = {
  /** The same recorder; what it records is remembered. */
  observe(recorder: EventRecorder): EventRecorder
  /** The last Events, the newest first. */
  list(): readonly RecentEvent[]
}

const maxEvents = 50
/** Users decide how long parts of a message are, and each is kept. */
const maxMessage = 400

/** The last Events of this process. A repeated one takes the place of its earlier occurrence. */
export function recentEvents(now: () => number = Date.now): RecentEvents {
  const events = new Map<string, RecentEvent>()
  return {
    observe: (recorder) => ({
      ...recorder,
      record(object, occurrence) {
        const { type, reason } = occurrence
        const message = occurrence.message.slice(0, maxMessage)
        const about = `${object.kind} ${keyOf(object)}`
        const key = JSON.stringify([about, reason, message])
        const count = (events.get(key)?.count ?? 0) + 1
        events.delete(key)
        events.set(key, { type, reason, message, about, count, atMs: now() })
        if (events.size > maxEvents) events.delete(events.keys().next().value ?? '')
        recorder.record(object, occurrence)
      },
    }),
    list: () => [...events.values()].toReversed(),
  }
}
