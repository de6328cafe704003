import type { Key } from '../kube/objects.ts'
import { type ElasticIP, claimKey } from '../ledger/elastic-ip.ts'
import type { Outcome, Reconciler } from './reconciler.ts'
import { type StockSeen, type StockStep, planStock } from './stock-plan.ts'

export type StockAddressDeps = {
  getRecord: (key: Key, signal: AbortSignal) => Promise<ElasticIP | undefined>
  /** The name of the record that says its address is from this one, as a copy of the ledger knows it. */
  takerOf: (name: string) => string | undefined
  carryOut: (step: StockStep, signal: AbortSignal) => Promise<Outcome | undefined>
  /** Makes sure of the reservation of an address that a person provisioned: no list of ours shows when it is gone. */
  check: (seen: StockSeen, signal: AbortSignal) => Promise<Outcome>
}

/** More steps than any address in stock needs to be settled: beyond it two writers undo each other. */
const mostSteps = 10

/** Keeps what is in stock true: provisions it, hands it over, takes it back. Its key is the name of an ElasticIP. */
export function stockAddress(deps: StockAddressDeps): Reconciler {
  return {
    name: 'stock-address',
    async reconcile(name, signal) {
      for (let steps = 0; steps < mostSteps; steps += 1) {
        const seen = await look(deps, name, signal)
        const step = planStock(seen)
        if (!step) return deps.check(seen, signal)
        const done = await deps.carryOut(step, signal)
        if (done) return done
      }
      return { againInMs: 60_000 }
    },
  }
}

async function look({ getRecord, takerOf }: StockAddressDeps, name: string, signal: AbortSignal): Promise<StockSeen> {
  const lot = await getRecord(name, signal)
  const taker = (lot && claimKey(lot)) ?? takerOf(name)
  return { lot, record: taker === undefined ? undefined : await getRecord(taker, signal) }
}
