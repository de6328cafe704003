import type { Claimed } from './ask.ts'
import type { Claim } from './claim.ts'

export type BrakeOptions = {
  claim: (claim: Claim, signal: AbortSignal) => Promise<Claimed>
  /** Addresses that are asked for or reserved, and whose Services were not seen. */
  unbound: () => number
  most: number
}

/**
 * Claims for Services that may never be stored: whoever can send reviews could buy addresses without end. Too many of
 * them unbound, the rest is left to the controller, which sees only Services that there are.
 */
export function braked({ claim, unbound, most }: BrakeOptions): BrakeOptions['claim'] {
  let open = 0
  return async (wanted, signal) => {
    if (unbound() + open >= most) return { kind: 'pending', why: `${most} addresses are waiting for their Services` }
    open += 1
    try {
      return await claim(wanted, signal)
    } finally {
      open -= 1
    }
  }
}
