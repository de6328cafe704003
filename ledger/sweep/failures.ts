import { CloudError } from '../../clouds/ports/cloud.ts'
import { isConflict, isNotFound } from '../../kube/errors.ts'

export type Failures = {
  /** Does one piece of work, and returns whether it succeeded. Keeps an error that concerns only its object, throws others. */
  isolate(work: () => Promise<void>): Promise<boolean>
  /** Throws all errors that were kept, as one whose message has every reason. */
  throwAny(): void
}

/**
 * Errors of single objects within a larger task. A reservation that cannot be released, for instance because a machine
 * uses it, must not hold up all others. Its error is thrown when everything else is done.
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
