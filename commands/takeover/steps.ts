import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../kube/clock.ts'
import { isUnanswered } from '../../kube/errors.ts'
import { formatDuration } from '../../lib/duration.ts'
import { End } from './end.ts'
import type { BegunStep } from './plan/plan.ts'

/** The part of a step that is left, as a text for people. A changed text counts as progress. */
export type Missing = { text: string; hint?: string }

/** A step of a takeover. It reads everything from the cluster, so it may be repeated however an earlier run ended. */
export type TakeoverStep = {
  title: string
  /** The part that is left; undefined if the step is done. */
  missing(): Promise<Missing | undefined>
  /** Does what can be done now. Absent if another program acts, and the step only waits. */
  act?(): Promise<void>
  /** Who restarted what this step stopped; undefined if it is still stopped. Each later step checks again. */
  returned?(): Promise<string | undefined>
}

/** The dependencies of a run of `apply` or `undo`. */
export type RunDeps = {
  client: KubeClient
  tell: (line: string) => void
  signal: AbortSignal
  clock: Clock
  /** How long a step may wait without any progress. */
  patienceMs: number
  /** How long the lock of a dead run counts. */
  lockMs?: number | undefined
}

type Waiting = Pick<RunDeps, 'tell' | 'signal' | 'clock' | 'patienceMs'>

type StepsDeps = Waiting & {
  /** Records a step before it does anything. */
  record: (step: BegunStep) => Promise<void>
  /** Throws if another run has taken over; checked before each action. */
  check: () => Promise<void>
}

const lookMs = 500

/** How long stopped programs must stay stopped before the run ends: most pipelines reapply a manifest within this time. */
const settleMs = 15_000

/**
 * Carries out steps one after the other, each until it finds itself done. Throws if a step makes no progress for too
 * long, or if a program that an earlier step stopped returns.
 */
export async function runSteps(steps: readonly TakeoverStep[], deps: StepsDeps): Promise<void> {
  const { clock, signal, tell, check, record } = deps
  let stoppedAtMs = -Infinity
  for (const [at, step] of steps.entries()) {
    tell(`[${at + 1}/${steps.length}] ${step.title}`)
    stopIfAborted(signal)
    await patiently(deps, check)
    await patiently(deps, () => record({ title: step.title, number: at + 1, of: steps.length }))
    await runStep(step, { ...deps, ended: steps.slice(0, at) })
    if (step.returned) stoppedAtMs = clock.now()
  }
  const text = `waiting ${settleMs / 1000} s to see whether it is started again`
  const isSettled = () => clock.now() - stoppedAtMs > settleMs
  const settle = { title: 'Wait', missing: async () => (isSettled() ? undefined : { text }) }
  await runStep(settle, { ...deps, ended: steps })
}

/** `ended`: the steps before. */
type StepDeps = StepsDeps & { ended: readonly TakeoverStep[] }

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
  { check, signal, ended }: StepDeps,
  say: (missing: Missing) => void,
): Promise<Missing | undefined> {
  const again = await leftAgain(ended, check)
  const missing = again ?? (await step.missing())
  if (!missing) return undefined
  say(missing)
  stopIfAborted(signal)
  await check()
  if (again || !step.act) return missing
  await step.act()
  return step.missing()
}

/** The pods of stopped programs: a controller that had not seen the stop yet may have created one since. */
async function leftAgain(ended: readonly TakeoverStep[], check: () => Promise<void>): Promise<Missing | undefined> {
  for (const one of ended) {
    if (!one.returned) continue
    const who = await one.returned()
    if (who !== undefined) {
      await check()
      await one.act?.()
      // A program that was started again once may be so at any time, and then both programs act.
      throw new End('refused', `${who}, and is stopped again. Stop what starts it, then run this command again`)
    }
    const missing = await one.missing()
    if (missing) return missing
  }
  return undefined
}

/** Repeats a call that the API server does not answer, for as long as a step may make no progress. */
export async function patiently<T>({ clock, signal, tell, patienceMs }: Waiting, call: () => Promise<T>): Promise<T> {
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

/** Ends the run if a signal has stopped it. */
export function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new End('stopped', 'stopped')
}

function stuck({ title }: TakeoverStep, { text, hint }: Missing, patienceMs: number): Error {
  const fix = hint === undefined ? '' : `; ${hint}`
  return new Error(`"${title}" made no progress for ${formatDuration(patienceMs)}: ${text}${fix}`)
}
