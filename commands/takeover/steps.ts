import type { Clock } from '../../kube/clock.ts'
import type { BegunStep } from './takeover-status.ts'

/** What a step waits for: a text for people, whose change is progress. */
export type Missing = { text: string; hint?: string }

/** One step of a takeover. Everything is read from the cluster, so a step may be repeated after any end of an earlier run. */
export type TakeoverStep = {
  name: string
  /** What the step does, as people read it. */
  title: string
  /** What is left to do; undefined if the step is done. */
  missing(): Promise<Missing | undefined>
  /** Does what can be done now. Absent where another program acts, and the step only waits. */
  act?(): Promise<void>
}

export type StepResult = { name: string; title: string; ms: number }

export type RunDeps = {
  /** Records which step begins, before it does anything. */
  record: (step: BegunStep) => Promise<void>
  /** Throws if another run works by now: checked before anything is done. */
  check: () => Promise<void>
  tell: (line: string) => void
  signal: AbortSignal
  clock: Clock
  /** How long a step may wait without any progress. */
  patienceMs: number
}

/** The signal to stop came. What is done stays done. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Why a command does nothing, or nothing more, as another run or the cluster is in its way. Repeating it does not help. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal'
}

const lookMs = 500

/** Carries out steps one after the other, until each sees that it is done. Throws when one makes no progress for too long. */
export async function runSteps(steps: readonly TakeoverStep[], deps: RunDeps): Promise<StepResult[]> {
  const results: StepResult[] = []
  for (const [at, step] of steps.entries()) {
    const startedMs = deps.clock.now()
    deps.tell(`[${at + 1}/${steps.length}] ${step.title}`)
    stopIfAborted(deps.signal)
    await deps.check()
    await deps.record({ name: step.name, title: step.title, number: at + 1, of: steps.length })
    await runStep(step, deps)
    results.push({ name: step.name, title: step.title, ms: Math.round(deps.clock.now() - startedMs) })
  }
  return results
}

async function runStep(step: TakeoverStep, deps: RunDeps): Promise<void> {
  const { clock, signal, tell } = deps
  let last: Missing | undefined
  let progressAtMs = clock.now()
  for (;;) {
    stopIfAborted(signal)
    const missing = await step.missing()
    if (!missing) return
    if (missing.text !== last?.text) {
      tell(`      ${missing.text}`)
      if (missing.hint !== undefined) tell(`      -> ${missing.hint}`)
      last = missing
      progressAtMs = clock.now()
    }
    if (clock.now() - progressAtMs > deps.patienceMs) throw stuck(step, missing, deps.patienceMs)
    stopIfAborted(signal)
    await deps.check()
    await step.act?.()
    if (step.act && !(await step.missing())) return
    await clock.sleep(lookMs, signal)
  }
}

function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Interrupted('stopped')
}

function stuck({ title }: TakeoverStep, { text, hint }: Missing, patienceMs: number): Error {
  const fix = hint === undefined ? '' : `; ${hint}`
  return new Error(`"${title}" made no progress for ${Math.round(patienceMs / 60_000)} minutes: ${text}${fix}`)
}
