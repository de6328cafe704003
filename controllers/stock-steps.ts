import { bindLot } from '../ledger/bind.ts'
import type { ClaimParts } from '../ledger/claim.ts'
import { forgetSource, handOver, retire } from '../ledger/hand-over.ts'
import { provision } from '../ledger/provision.ts'
import { releaseLot } from '../ledger/release.ts'
import { takeAgain } from '../ledger/take.ts'
import { reserveWarm } from '../ledger/warm.ts'
import type { Outcome } from './reconciler.ts'
import type { StockAddressDeps } from './stock-address.ts'
import type { StockStep } from './stock-plan.ts'

/** How long until a cloud is asked again whether it has granted or deleted what it was asked to. */
const pollMs = 5_000

/** Everything that happens to an address in stock while no claim is at it, a step at a time. */
export function stockSteps(parts: ClaimParts): StockAddressDeps['carryOut'] {
  return async (step, signal) => {
    switch (step.do) {
      case 'ask':
        return reserve(parts, step)
      case 'provision':
        return complained(await provision(parts, step.lot, signal))
      case 'release':
        return (await releaseLot(parts, step.lot, signal)) === 'going' ? { againInMs: pollMs } : undefined
      case 'hand-over':
        await handOver(parts, step, signal)
        return undefined
      case 'bind':
        await bindLot(parts, step.lot)
        return undefined
      case 'take-again':
        await takeAgain(parts, step)
        return undefined
      case 'retire':
        await retire(parts, step.lot)
        return undefined
      case 'forget':
        await parts.records.remove(step.lot)
        return undefined
      case 'forget-source':
        await forgetSource(parts, step.record)
        return undefined
    }
  }
}

async function reserve(parts: ClaimParts, { lot }: Extract<StockStep, { do: 'ask' }>): Promise<Outcome | undefined> {
  const claimed = await reserveWarm(parts, lot)
  if (claimed === 'busy') return { againInMs: pollMs }
  return complained(claimed.kind === 'held' ? undefined : claimed.why)
}

/** What keeps an address from being there is told to its owner, and tried again later. */
function complained(why: string | undefined): undefined {
  if (why !== undefined) throw new Error(`not available: ${why}`)
}
