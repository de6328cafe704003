import { mapAll } from '../../lib/map-all.ts'
import type { ChangeOutcome } from './carry-out-change.ts'
import type { ObjectChange, ChangePlan } from './plan-changes.ts'

const changesAtOnce = 8

/**
 * How long new sessions get to come up before others end. MetalLB opens one within a tenth of a second, and retries
 * after a second if the router still held the old one.
 */
export const sessionPauseMs = 2_000

type Deps = {
  now: () => number
  carryOut: (change: ObjectChange, signal: AbortSignal) => Promise<ChangeOutcome>
}

/** `failure`: why an object was not removed. Only what waits for its removal was not carried out. */
export type PlanResult = { outcomes: ChangeOutcome[]; isUnfinished: boolean; failure?: Error }

export type PlanRunner = {
  /** Begins a term: the previous leader may have just interrupted sessions. */
  begin: () => void
  carryOut: (plan: ChangePlan, signal: AbortSignal) => Promise<PlanResult>
}

/** Carries out plans. Changes that interrupt sessions go one wave at a time, with a pause between waves. */
export function planRunner({ now, carryOut }: Deps): PlanRunner {
  let interruptedAtMs = now()
  const pause = () => void (interruptedAtMs = now())
  const carryOutAll = async (groups: ObjectChange[][], signal: AbortSignal, { isWave = false } = {}) => {
    const outcomes: ChangeOutcome[] = []
    for (const group of groups) {
      outcomes.push(...(await mapAll(group, (change) => carryOut(change, signal), changesAtOnce)))
      // A router has only one session with a node, so the old one must end before a wave starts the new one.
      if (isWave && failureIn(outcomes)) break
    }
    return outcomes
  }
  // A refused change must not keep others from their turn.
  let turn = 0
  const carryOutWave = async ({ waves }: ChangePlan, signal: AbortSignal) => {
    pause()
    try {
      const outcomes = await carryOutAll(waves[turn % waves.length] ?? [], signal, { isWave: true })
      if (outcomes.some(({ isRefused }) => isRefused)) turn += 1
      return outcomes
    } finally {
      pause()
    }
  }
  const carryOutPlan = async (plan: ChangePlan, signal: AbortSignal) => {
    const outcomes = await carryOutAll(plan.first, signal).catch((error: unknown) => {
      // It is unknown which sessions have begun.
      pause()
      throw error
    })
    if (outcomes.some(({ hasBegun }) => hasBegun)) pause()
    const isWaiting = plan.waves.length > 0 && now() - interruptedAtMs < sessionPauseMs
    if (!isWaiting && plan.waves.length > 0) outcomes.push(...(await carryOutWave(plan, signal)))
    const isUnfinished = isWaiting || plan.waves.length > 1
    const isLastDue = !isUnfinished && !plan.isHolding && !failureIn(outcomes)
    if (isLastDue) outcomes.push(...(await carryOutAll([plan.last], signal)))
    const failure = failureIn(outcomes)
    return { outcomes, isUnfinished, ...(failure && { failure }) }
  }
  return { begin: pause, carryOut: carryOutPlan }
}

function failureIn(outcomes: readonly ChangeOutcome[]): Error | undefined {
  return outcomes.find(({ failure }) => failure)?.failure
}
