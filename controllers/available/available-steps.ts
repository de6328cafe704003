import { bindSource } from '../../ledger/claim/bind.ts'
import type { Claims, ClaimDeps } from '../../ledger/claim/claim.ts'
import { clearSource, reclaimSource, restoreClaim, transferWarm } from '../../ledger/available/settle-source.ts'
import { provision } from '../../ledger/available/provision.ts'
import { holdRecord, observeRecord } from '../../ledger/record/records.ts'
import { releaseSource, type SourceReleaseDeps } from '../../ledger/release/release.ts'
import { reserveWarm } from '../../ledger/claim/reserve-warm.ts'
import { untilAborted } from '../../lib/time-limit.ts'
import type { Outcome } from '../loop/reconciler.ts'
import type { AvailableStep } from './available-plan.ts'

/** How long until we ask the cloud again whether it has granted or deleted a reservation. */
const pollMs = 5_000

type StepDeps = ClaimDeps & SourceReleaseDeps & Pick<Claims, 'track'>

/** Carries out one step for an available address. */
export function availableSteps(
  deps: StepDeps,
): (step: AvailableStep, signal: AbortSignal) => Promise<Outcome | undefined> {
  return async (step, signal) => {
    switch (step.do) {
      case 'reserve':
        return reserve(deps, step, signal)
      case 'provision':
        return requireAvailable(await provision(deps, step.source, signal))
      case 'release':
        return (await releaseSource(deps, step.source, signal)) === 'released' ? undefined : { againInMs: pollMs }
      case 'transfer':
        await transferWarm(deps, step, signal)
        return undefined
      case 'bind':
        await bindSource(deps, step.source, signal)
        return undefined
      case 'add-finalizer':
        await holdRecord(deps.records, step.source, signal)
        return undefined
      case 'observe':
        await observeRecord(deps.records, step.source, signal)
        return undefined
      case 'restore-claim':
        await restoreClaim(deps, step, signal)
        return undefined
      case 'reclaim':
        await reclaimSource(deps, step, signal)
        return undefined
      case 'remove':
        await deps.records.remove(step.source, { signal })
        return undefined
      case 'clear-source':
        await clearSource(deps, step.record, signal)
        return undefined
    }
  }
}

async function reserve(
  deps: StepDeps,
  { source }: Extract<AvailableStep, { do: 'reserve' }>,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const claimed = await untilAborted(deps.track(reserveWarm(deps, source)), signal)
  if (claimed.kind === 'busy') return { againInMs: pollMs }
  return requireAvailable(claimed.kind === 'held' ? undefined : claimed.reason)
}

/** Throws the reason why an address is not available: its owner reads it in an Event, and we retry later. */
function requireAvailable(reason: string | undefined): undefined {
  if (reason !== undefined) throw new Error(`not available: ${reason}`)
}
