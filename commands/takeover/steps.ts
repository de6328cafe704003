import type { Clock } from '../../kube/clock.ts'
import { isUnanswered } from '../../kube/errors.ts'
import { formatDuration } from '../../lib/duration.ts'
import { End } from './end.ts'
import type { BegunStep } from './takeover-status.ts'

/** The part of a step that is left, as a text for people. A changed text counts as progress. */
export type Missing = { text: string; hint?: string }

/** A step of a takeover. It reads everything from the cluster, so it may be repeated however an earlier run ended. */
export type TakeoverStep = {
  title: string
  /** The part that is left; undefined if the step is done. */
  missing(): Promise<Missing | undefined>
  /** Does what can be done now. Absent if another program acts, and the step only waits. */
  act?(): Promise<void>
  /**
   * The writer that restarted what this step stopped; undefined if it is still stopped. Each later step checks again.
   */
  returned?(): Promise<string | undefined>
}

export type RunDeps = {
  /** Records a step before it does anything. */
  record: (step: BegunStep) => Promise<void>
  /** Throws if another run has taken over; checked before each action. */
  check: () => Promise<void>
  tell: (line: string) => void
  signal: AbortSignal
  clock: Clock
  /** How long a step may wait without any progress. */
  patienceMs: number
}

const lookMs = 500

/**
 * How long stopped programs must stay stopped before the run ends: most pipelines reapply a manifest within this time.
 */
const settleMs = { first: 15_000, again: 30_000 }

/**
 * Carries out steps one after the other, each until it finds itself done. Throws if a step makes no progress for too
 * long.
 */
export async function runSteps(steps: readonly TakeoverStep[], deps: RunDeps): Promise<void> {
  const ended = endedSteps(deps)
  for (const [at, step] of steps.entries()) {
    deps.tell(`[${at + 1}/${steps.length}] ${step.title}`)
    stopIfAborted(deps.signal)
    await patiently(deps, deps.check)
    await patiently(deps, () => deps.record({ title: step.title, number: at + 1, of: steps.length }))
    await runStep(step, { ...deps, ended, isLast: at + 1 === steps.length })
    ended.add(step)
  }
}

type StepDeps = RunDeps & { ended: EndedSteps; isLast: boolean }

async function runStep(step: TakeoverStep, deps: StepDeps): Promise<void> {
  const { clock, signal, tell } = deps
  let last: Missing | undefined
  let progressAtMs = clock.now()
  const say = (missing: Missing) => {
    if (missing.text === last?.text) return
    tell(`      ${missing.text}`)
    if (missing.hint !== undefined) tell(`      -> ${missing.hint}`)
    last = missing
    progressAtMs = clock.now()
  }
  for (;;) {
    stopIfAborted(signal)
    const missing = await patiently(deps, () => turn(step, deps, say))
    if (!missing) return
    if (clock.now() - progressAtMs > deps.patienceMs) throw stuck(step, missing, deps.patienceMs)
    await clock.sleep(lookMs, signal)
  }
}

/** Looks at the cluster once, and does what can be done now. Returns what is left; undefined if the step is done. */
async function turn(
  step: TakeoverStep,
  { check, signal, ended, isLast }: StepDeps,
  say: (missing: Missing) => void,
): Promise<Missing | undefined> {
  // A program may have returned during the last look of the run.
  const leftAtEnd = async () => ended.settling() ?? (await ended.missing())
  const left = async () => (await step.missing()) ?? (isLast ? leftAtEnd() : undefined)
  const ending = await ended.missing()
  const missing = ending ?? (await left())
  if (!missing) return undefined
  say(missing)
  stopIfAborted(signal)
  await check()
  if (ending || !step.act) return missing
  await step.act()
  return left()
}

type EndedSteps = {
  add(step: TakeoverStep): void
  /** The part that is left to stop again. */
  missing(): Promise<Missing | undefined>
  /** The remaining wait after the last step is done. */
  settling(): Missing | undefined
}

/**
 * Watches the programs that earlier steps have stopped. A program that returns is stopped again; a second return ends
 * the run.
 */
function endedSteps({ check, tell, clock }: RunDeps): EndedSteps {
  const steps: TakeoverStep[] = []
  let returns = 0
  let settledAtMs = 0
  const end = async (step: TakeoverStep, who: string) => {
    await check()
    await step.act?.()
    tell(`      ${who}; it is stopped again`)
    returns += 1
    settledAtMs = clock.now() + settleMs.again
    if (returns > 1) {
      const danger = 'each time it may act beside eip-admission'
      throw new End(
        'refused',
        `${who}, for the second time; ${danger}. Stop what starts it, then run this command again`,
      )
    }
  }
  return {
    add(step) {
      if (!step.returned) return
      steps.push(step)
      settledAtMs = clock.now() + settleMs.first
    },
    async missing() {
      for (const step of steps) {
        const who = await step.returned?.()
        if (who !== undefined) await end(step, who)
        const missing = await step.missing()
        if (missing) return missing
      }
      return undefined
    },
    settling() {
      if (clock.now() > settledAtMs) return undefined
      const { first, again } = settleMs
      return { text: `waiting ${(returns > 0 ? again : first) / 1000} s to see whether it is started again` }
    },
  }
}

/** Repeats a call that the API server does not answer, for as long as a step may make no progress. */
export async function patiently<T>(
  { clock, signal, tell, patienceMs }: Omit<RunDeps, 'record' | 'check'>,
  call: () => Promise<T>,
): Promise<T> {
  const sinceMs = clock.now()
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await call()
    } catch (error) {
      if (!isUnanswered(error) || clock.now() - sinceMs > patienceMs) throw error
      if (isFirst) tell(`      waiting for the API server: ${error.message}`)
      await clock.sleep(lookMs, signal)
      stopIfAborted(signal)
    }
  }
}

function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new End('stopped', 'stopped')
}

function stuck({ title }: TakeoverStep, { text, hint }: Missing, patienceMs: number): Error {
  const fix = hint === undefined ? '' : `; ${hint}`
  return new Error(`"${title}" made no progress for ${formatDuration(patienceMs)}: ${text}${fix}`)
}
