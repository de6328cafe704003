import type { KubeClient } from '../../kube/client.ts'
import { type Clock, systemClock } from '../../kube/clock.ts'
import type { FoundBefore } from './found.ts'
import { withLock } from './lock.ts'
import { type Progress, type ProgressStore, progressStore } from './progress.ts'
import type { BegunStep, TakeoverState } from './takeover-status.ts'
import { endOf } from './end.ts'
import { type TakeoverStep, type StepResult, runSteps } from './steps.ts'

/** The dependencies of a run of `apply` or `undo`. */
export type RunDeps = {
  client: KubeClient
  tell: (line: string) => void
  signal: AbortSignal
  patienceMs: number
  /** The time for which the lock of a dead run counts. */
  lockMs?: number | undefined
  clock?: Clock
}

/** A run of `apply` or `undo` that has the lock. */
export type Run = {
  clock: Clock
  /** The record of an earlier run. */
  before: Progress | undefined
  progress: ProgressStore
  /** Throws if another run works by now. */
  check: () => Promise<void>
  /** Carries out steps, and records which one begins. */
  carryOut: (steps: readonly TakeoverStep[], of: Work) => Promise<{ steps: StepResult[]; last: BegunStep | undefined }>
  /** Records again what was found, after a step has added to it. */
  save: () => Promise<void>
}

type Work = { state: TakeoverState; found: FoundBefore; check: () => Promise<void> }

/** Lets one run work at a time on the takeover that a namespace records. */
export function lockedRun<T>(
  deps: RunDeps,
  { namespace, command }: { namespace: string; command: 'apply' | 'undo' },
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const { client, tell, signal, patienceMs, lockMs, clock = systemClock } = deps
  return withLock({ client, namespace, command, tell, signal, lockMs, clock }, async ({ check }) => {
    const progress = progressStore(client, namespace)
    const before = await progress.read()
    let current: Progress | undefined
    const save = async () => {
      if (current) await progress.write(current)
    }
    const carryOut: Run['carryOut'] = async (steps, { state, found, check: checkAll }) => {
      const record = (step: BegunStep) => {
        current = { state, step, found }
        return save()
      }
      const results = await runSteps(steps, { record, check: checkAll, tell, signal, patienceMs, clock })
      await checkAll()
      return { steps: results, last: current?.step }
    }
    try {
      return await work({ clock, before, progress, check, carryOut, save })
    } catch (error) {
      throw current ? endOf(error, 'unfinished') : error
    }
  })
}
