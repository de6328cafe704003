import { type Cloud, CloudError } from '../clouds/ports/cloud.ts'
import type { KubeObject } from '../kube/objects.ts'
import type { Recorder } from '../telemetry/event-recorders.ts'

/** What a person can do where the cloud refuses every address, by the fault. */
const remedies: Partial<Record<CloudError['fault'], string>> = {
  quota: 'delete reservations that nobody needs, or ask the cloud for a higher quota',
  auth: 'give serve a token that may write',
}

/**
 * The same cloud; an Event says why it refuses addresses. A Service that is denied at its creation leaves no object that an
 * Event could be about, and no cloud says how much of its quota is left.
 */
export function reportRefusals(cloud: Cloud, { events, about }: { events: Recorder; about: KubeObject }): Cloud {
  return {
    ...cloud,
    async reserve(request, signal) {
      try {
        return await cloud.reserve(request, signal)
      } catch (error) {
        const remedy = error instanceof CloudError ? remedies[error.fault] : undefined
        if (error instanceof CloudError && remedy !== undefined) {
          const message = `${cloud.name} refuses to reserve an address: ${error.message}; ${remedy}`
          events.record(about, { type: 'Warning', reason: 'ReserveRefused', message })
        }
        throw error
      }
    },
  }
}
