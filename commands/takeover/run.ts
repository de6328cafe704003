import { endOf } from './end.ts'
import type { FoundBefore } from './found.ts'
import { type LeadLease, leadLease } from './lead-lease.ts'
import { identityOf, lockAt, withLock } from './lock.ts'
import type { BegunStep, ObjectRef } from './plan/plan.ts'
import { type Progress, progressStore, readProgress } from './progress.ts'
import { type RunDeps, type TakeoverStep, patiently, runSteps } from './steps.ts'

/** A run of `apply` or `undo` that has the lock. */
export type Run = {
  /** The record of an earlier run. */
  before: Progress | undefined
  /** The lease with which our program leads. */
  lead: LeadLease
  /** Throws if another process has taken the lock or the lease. */
  check: () => Promise<void>
  /** Carries out steps, and records each one when it begins. */
  carryOut: (steps: readonly TakeoverStep[], found: FoundBefore) => Promise<void>
}

type Running = { namespace: string; command: 'apply' | 'undo'; lease: ObjectRef }

/** Lets only one run at a time work on the takeover that a namespace records. */
export function lockedRun<T>(
  deps: RunDeps,
  { namespace, command, lease }: Running,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const of = { ...deps, identity: identityOf(command) }
  return withLock(lockAt(namespace), of, async (lock) => {
    const store = progressStore(deps.client, namespace)
    const before = await readProgress(deps.client, namespace)
    const lead = leadLease(lease, of)
    const check = async () => {
      await lock.check()
      await lead.check()
    }
    let current: Progress | undefined
    const carryOut: Run['carryOut'] = async (steps, found) => {
      const record = (step: BegunStep) => {
        current = { state: command === 'apply' ? 'applying' : 'undoing', step, found }
        return store.write(current)
      }
      await runSteps(steps, { ...deps, record, check })
      await patiently(deps, async () => {
        await check()
        if (command === 'undo') await store.remove()
        else if (current) await store.write({ ...current, state: 'applied' })
      })
    }
    try {
      return await work({ before, lead, check, carryOut })
    } catch (error) {
      throw current ? endOf(error, 'unfinished') : error
    } finally {
      // A release after `apply` would let ours lead beside a predecessor that may not be stopped yet.
      await (command === 'apply' ? lead.leave() : lead.release())
    }
  })
}
