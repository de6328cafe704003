import type { Claim, ClaimResult } from './claim-spec.ts'

type ClaimAddress = (claim: Claim, signal: AbortSignal) => Promise<ClaimResult>

export type UnboundLimitOptions = {
  claim: ClaimAddress
  /** How many addresses are requested or reserved for Services that no controller has seen stored. */
  unbound: () => number
  max: number
}

/**
 * Limits claims for Services that may never be stored: else a client that sends reviews could buy addresses without end.
 * Beyond the maximum the claim is pending, and the controller completes it: it sees only stored Services.
 */
export function limitUnbound({ claim, unbound, max }: UnboundLimitOptions): ClaimAddress {
  let running = 0
  return async (wanted, signal) => {
    if (unbound() + running >= max) {
      return { kind: 'pending', reason: `${max} addresses are waiting for their Services` }
    }
    running += 1
    try {
      return await claim(wanted, signal)
    } finally {
      running -= 1
    }
  }
}
