import type { Reservation } from '../../clouds/ports/cloud.ts'
import type { Context } from '../context.ts'
import type { ProjectCheckOptions } from './project-check.ts'
import { confirmProjectCommand, hasOneOfOurs, isProjectConfirmed, projectText } from './project-plan.ts'

/** A person's statement about a list that has none of the ledger's reservations. */
export type LossConfirmation = {
  /** Whether a person has confirmed that they no longer exist. */
  isGiven: (signal: AbortSignal) => Promise<boolean>
  /** Ends the confirmation, because the list is complete again. */
  end: (signal: AbortSignal) => Promise<void>
  /** Reports that nothing is written off, and what a person can do. */
  warn: (signal: AbortSignal) => Promise<void>
}

/**
 * With `confirm-project=<the project>` a person confirms that the reservations missing from the project's list no
 * longer exist.
 */
export function lossConfirmation(
  { vendor, events, log }: Pick<Context, 'vendor' | 'events' | 'log'>,
  { map, at }: Pick<ProjectCheckOptions, 'map' | 'at'>,
): LossConfirmation {
  const { project } = vendor
  const { id } = project
  const recorder = events.of('service-controller')
  return {
    isGiven: async (signal) => isProjectConfirmed(await map.read(signal), id),
    async end(signal) {
      const stored = await map.recent(signal)
      if (isProjectConfirmed(stored, id)) await map.change(stored, { project: id }, signal)
    },
    async warn(signal) {
      const message =
        `${projectText(project)} lists none of the reservations of this cluster: nothing is written off. ` +
        `If they really no longer exist, run: ${confirmProjectCommand({ at, project: id })}`
      log.error({ project: id }, message)
      const stored = await map.recent(signal)
      if (stored) recorder.record(stored, { type: 'Warning', reason: 'OtherProject', message })
    },
  }
}

/**
 * Whether reservations missing from a list were probably deleted: people delete one by hand, but not all of several.
 * Pure.
 */
export function isLossLikely(of: { listed: Reservation[]; held: string[]; cluster: string; missing: number }): boolean {
  return of.missing < 2 || hasOneOfOurs(of.listed, of)
}
