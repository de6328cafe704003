import type { KubeClient } from '../kube/client.ts'
import { type EventRecorder, eventRecorder } from '../kube/events.ts'
import type { Log } from '../kube/log.ts'
import type { EventReason } from './events/catalogue.ts'

/** The components of upstream's cloud controller manager that Events name as their source, and ours. */
export const components = [
  'service-controller',
  'cloud-node-controller',
  'cloud-node-lifecycle-controller',
  'node-peering',
  'webhook-probe',
  'control-plane',
] as const

export type Component = (typeof components)[number]

/** A recorder of the Events that the catalogue has. */
export type Recorder = EventRecorder<EventReason>

export type EventRecorders = {
  /** The recorder of a component. */
  of(component: Component): Recorder
  /** Resolves when every Event so far is written or given up. */
  written(): Promise<void>
}

/** One recorder for each component of this replica. */
export function eventRecorders(options: { client: KubeClient; instance: string; log: Log }): EventRecorders {
  const recorders = new Map<Component, EventRecorder>()
  return {
    of(component) {
      const recorder = recorders.get(component) ?? eventRecorder({ ...options, component })
      recorders.set(component, recorder)
      return recorder
    },
    async written() {
      await Promise.all([...recorders.values()].map((recorder) => recorder.written()))
    },
  }
}
