import type { KubeClient } from '../kube/client.ts'
import { type EventRecorder, eventRecorder, type Occurrence } from '../kube/events.ts'
import type { Log } from '../kube/log.ts'
import type { EventReason } from './events/catalogue.ts'
import { currentRequestId, requestIdAnnotation } from '../lib/request-id.ts'
import { type KubeObject, keyOf } from '../kube/objects.ts'
import type { ProcessSettings } from '../settings/process.ts'

/** The components that Events name as their source: those of the upstream cloud controller manager, and ours. */
export const components = [
  'service-controller',
  'cloud-node-controller',
  'cloud-node-lifecycle-controller',
  'node-peering',
  'webhook-probe',
  'control-plane',
  'settings-reload',
  'own-rights',
] as const

export type Component = (typeof components)[number]

export type Recorder = EventRecorder<EventReason>

export type EventRecorders = {
  of(component: Component): Recorder
  /** The last Events of all of them. */
  recent(): ReturnType<RecentEvents['list']>
  /** Resolves when every Event so far is written or given up. */
  written(): Promise<void>
}

/**
 * The annotation with the request of an Event. In the message, it would keep equal Events from being counted as one.
 */
function requestAnnotation(): Record<string, string> | undefined {
  const request = currentRequestId()
  return request === undefined ? undefined : { [requestIdAnnotation]: request }
}

/** A recorder for each component of this replica. */
export function eventRecorders(options: { client: KubeClient; instance: string; log: Log }): EventRecorders {
  const recorders = new Map<Component, EventRecorder>()
  const recent = recentEvents()
  return {
    of(component) {
      const recorder =
        recorders.get(component) ??
        recent.observe(eventRecorder({ ...options, component, annotations: requestAnnotation }))
      recorders.set(component, recorder)
      return recorder
    },
    recent: () => recent.list(),
    async written() {
      await Promise.all([...recorders.values()].map((recorder) => recorder.written()))
    },
  }
}

/**
 * The object of Events about the process itself: its Pod, or its namespace if it runs outside the cluster. Without the
 * uid of the Pod, `kubectl describe pod` would not show them.
 */
export function ownObject(process: Pick<ProcessSettings, 'namespace' | 'podName' | 'podUid'>): KubeObject {
  const { namespace, podName: name, podUid: uid } = process
  if (name === undefined) return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, ...(uid !== undefined && { uid }) } }
}

export type RecentEvent = Occurrence & { atMs: number; count: number; about: string }

type RecentEvents = {
  /** Returns the same recorder, and remembers the Events that it records. */
  observe(recorder: EventRecorder): EventRecorder
  /** The last Events, the newest first. */
  list(): readonly RecentEvent[]
}

const maxEvents = 50
/** The maximum length of a message in memory, because users control the length of its parts. */
const maxMessage = 400

/** The last Events of this process. A repeated Event replaces its earlier occurrence. */
function recentEvents(now: () => number = Date.now): RecentEvents {
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
