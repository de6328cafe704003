import { CloudError } from '../../clouds/ports/cloud.ts'
import { isConflict, isNotFound } from '../../kube/errors.ts'
import { keyOf, type Service } from '../../kube/objects.ts'
import { claimKey, type ElasticIP } from '../record/elastic-ip.ts'
import type { LiveService } from './sweep-plan.ts'

export type Failures = {
  /** Does some work, and returns whether it succeeded. Keeps an error that concerns only its object, and throws others. */
  isolate(work: () => Promise<void>): Promise<boolean>
  /** Throws the kept errors as a single one, whose message lists every reason. */
  throwAny(): void
}

/**
 * Collects the errors of single objects in a larger task. A reservation that cannot be released, for instance because a
 * machine uses it, must not hold up the others. The errors are thrown after everything else is done.
 */
export function failures(task: string): Failures {
  const errors: Error[] = []
  return {
    async isolate(work) {
      try {
        await work()
        return true
      } catch (error) {
        if (!isAboutOneObject(error)) throw error
        errors.push(error)
        return false
      }
    },
    throwAny() {
      if (errors.length === 0) return
      throw new AggregateError(errors, `${task}: ${errors.map(({ message }) => message).join('; ')}`)
    },
  }
}

function isAboutOneObject(error: unknown): error is Error {
  const isOfReservation = error instanceof CloudError && ['conflict', 'invalid'].includes(error.fault)
  return isOfReservation || isConflict(error) || isNotFound(error)
}

type WarnOwner = (
  service: Service,
  reason: 'SurplusReservation' | 'ContradictoryAddress' | 'AddressImpaired',
  message: string,
) => void

export type OwnerDeps = { listServices: () => LiveService[]; warn: WarnOwner }

/** Reports to the owner of a record's Service, if the Service exists. */
export function warnOwner(
  { warn, listServices }: OwnerDeps,
  record: ElasticIP,
  { reason, message }: { reason: Parameters<WarnOwner>[1]; message: string },
): void {
  const key = claimKey(record)
  const live = listServices().find(({ service }) => keyOf(service) === key)
  if (live) warn(live.service, reason, message)
}
