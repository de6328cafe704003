import type { Report } from '../../controllers/reconcile-key.ts'
import type { EventRecorder } from '../../kube/events.ts'
import type { Key, KubeObject } from '../../kube/objects.ts'

export type FailureEventOptions = {
  events: EventRecorder
  /** The object of a key; undefined if it no longer exists. */
  find: (key: Key) => KubeObject | undefined
  reason: string
  /** What the message begins with. */
  prefix?: string
}

/** Reports every failed reconcile as a warning Event on its object. */
export function failureEvent({ events, find, reason, prefix = '' }: FailureEventOptions): Report {
  return (key, message) => {
    const object = find(key)
    if (object) events.record(object, { type: 'Warning', reason, message: `${prefix}${message}` })
  }
}
