import type { ClaimResult } from './ask.ts'
import type { Claim } from './claim.ts'

export type UnboundLimitOptions = {
  claim: (claim: Claim, signal: AbortSignal) => Promise<ClaimResult>
  /** Addresses that are asked for or reserved, and whose Services were not seen. */
  unbound: () => number
  max: number
}

/**
 * Claims for Services that may never be stored: whoever can send reviews could buy addresses without end. Too many of
 * them unbound, the rest is left to the controller, which sees only Services that there are.
 */
export function limitUnbound({ claim, unbound, max }: UnboundLimitOptions): UnboundLimitOptions['claim'] {
  let open = 0
  return async (wanted, signal) => {
    if (unbound() + open >= max) return { kind: 'pending', why: `${max} addresses are waiting for their Services` }
    open += 1
    try {
      return await claim(wanted, signal)
    } finally {
      open -= 1
    }
  }
}
