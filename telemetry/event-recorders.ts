import type { KubeClient } from '../kube/client.ts'
import { type EventRecorder, eventRecorder } from '../kube/events.ts'
import type { Log } from '../kube/log.ts'
import type { EventReason } from './events/catalogue.ts'
import { currentRequestId, requestIdAnnotation } from '../lib/request-id.ts'
import { type RecentEvents, recentEvents } from './recent-events.ts'

/** The components of upstream's cloud controller manager that Events name as their source, and ours. */
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

/** A recorder of the Events that the catalogue has. */
export type Recorder = EventRecorder<EventReason>

export type EventRecorders = {
  /** The recorder of a component. */
  of(component: Component): Recorder
  /** The last Events of all of them. */
  recent(): ReturnType<RecentEvents['list']>
  /** Resolves when every Event so far is written or given up. */
  written(): Promise<void>
}

/** An Event names the request that it is about in an annotation: in its message, equal Events would differ and not be counted. */
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
