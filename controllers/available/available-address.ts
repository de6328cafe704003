import type { Key } from '../../kube/objects.ts'
import { type ElasticIP, claimKey } from '../../ledger/record/elastic-ip.ts'
import type { Outcome, Reconciler } from '../reconciler.ts'
import { type AvailableSeen, type AvailableStep, planAvailable } from './available-plan.ts'

export type AvailableAddressDeps = {
  getRecord: (key: Key, signal: AbortSignal) => Promise<ElasticIP | undefined>
  /** The name of the record that says its address is from this one, as a copy of the ledger knows it. */
  takerOf: (name: string) => string | undefined
  carryOut: (step: AvailableStep, signal: AbortSignal) => Promise<Outcome | undefined>
  /** Makes sure of the reservation of an address that a person provisioned: no list of ours shows when it is gone. */
  check: (seen: AvailableSeen, signal: AbortSignal) => Promise<Outcome>
}

/** More steps than any address in stock needs to be settled: beyond it two writers undo each other. */
const maxSteps = 10

/** Keeps what is in stock true: provisions it, hands it over, takes it back. Its key is the name of an ElasticIP. */
export function availableAddress(deps: AvailableAddressDeps): Reconciler {
  return {
    name: 'stock-address',
    async reconcile(name, signal) {
      for (let steps = 0; steps < maxSteps; steps += 1) {
        const seen = await look(deps, name, signal)
        const step = planAvailable(seen)
        if (!step) return deps.check(seen, signal)
        const done = await deps.carryOut(step, signal)
        if (done) return done
      }
      return { againInMs: 60_000 }
    },
  }
}

async function look(
  { getRecord, takerOf }: AvailableAddressDeps,
  name: string,
  signal: AbortSignal,
): Promise<AvailableSeen> {
  const source = await getRecord(name, signal)
  const taker = (source && claimKey(source)) ?? takerOf(name)
  return { source, record: taker === undefined ? undefined : await getRecord(taker, signal) }
}
